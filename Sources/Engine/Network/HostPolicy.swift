public import HTTP

/// Which hosts the phone may talk to: loopback always, others only when allowed by name.
public struct HostPolicy: Sendable, Hashable {
    /// Lower-case host names allowed besides loopback.
    public let allowed: Set<String>

    /// Allows these hosts besides loopback.
    public init(allowing hosts: some Sequence<String> = []) {
        allowed = Set(hosts.map { $0.lowercased() })
    }

    /// Why a URL may not be called, or nil where it may.
    ///
    /// Plain `http` is for loopback alone, whatever is allowed: tokens never cross a network in the clear.
    public func objection(to url: HTTPURL) -> EngineError? {
        if url.isLoopback { return nil }
        guard url.isSecure else {
            return .invalid(field: "url", rule: "plain http is for loopback hosts only", value: url.origin)
        }
        return allowed.contains(url.host.lowercased()) ? nil : .hostNotAllowed(url.host)
    }
}
