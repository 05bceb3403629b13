/// How others reach an address that is listened on.
public enum AdvertisedAddress {
    /// The origin of a bound address and port; one that stands for all addresses is advertised as loopback.
    public static func origin(host: String, port: Int) -> String {
        switch host {
        case "0.0.0.0": "http://127.0.0.1:\(port)"
        case "::": "http://[::1]:\(port)"
        default: host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
        }
    }
}
