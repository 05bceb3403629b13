public import Encoding
import HTTP
import Transport

extension Engine {
    /// A JSON document at an address the phone may talk to; nil where there is none to be had.
    ///
    /// No phone asks: nothing is proved, and no fault is taken.
    public func document(at address: String) async -> JSON? {
        guard let url = try? HTTPURL(address) else { return nil }
        let request = ClientRequest(
            url: url, fields: HTTPFields([("Accept", "application/json")]), timeoutMilliseconds: 2000)
        guard let response = try? await world.network.send(request), response.status == 200 else { return nil }
        return try? JSON(parsing: response.body)
    }
}
