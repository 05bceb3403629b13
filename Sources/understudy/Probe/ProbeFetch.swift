import Crypto
import Encoding
import Foundation
import HTTP
import Transport

/// The client of `probe get`.
enum ProbeFetch {
    static func run(_ options: ProbeOptions) async -> Int32 {
        guard let text = options.operands.first, let url = try? HTTPURL(text),
            let request = request(to: url, options), let configuration = configuration(options)
        else { return Probe.usage() }
        let client = HTTPClient(configuration)
        var status: Int32 = 0
        for _ in 0..<options.number("repeat", default: 1) {
            do throws(TransportError) {
                say(try await client.send(request))
            } catch {
                status = Probe.fail(error)
            }
        }
        return status
    }

    private static func request(to url: HTTPURL, _ options: ProbeOptions) -> ClientRequest? {
        var request = ClientRequest(url: url, method: options["method"] ?? "GET")
        request.timeoutMilliseconds = options.number("timeout", default: 30_000)
        for header in options.all("header") {
            guard let colon = header.firstIndex(of: ":") else { return nil }
            let value = header[header.index(after: colon)...].drop { $0 == " " }
            request.fields.append(String(header[..<colon]), String(value))
        }
        if let file = options["data-file"] {
            guard let data = FileManager.default.contents(atPath: file) else { return nil }
            request.body = Array(data)
        }
        return request
    }

    private static func configuration(_ options: ProbeOptions) -> ClientConfiguration? {
        var configuration = ClientConfiguration(limits: HTTPLimits(body: 1 << 28))
        configuration.tls.caFile = options["cacert"]
        for override in options.all("resolve") {
            // host:port:address:port; an IPv6 address stands in brackets.
            let parts = override.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            configuration.resolve["\(parts[0]):\(parts[1])"] = String(parts[2])
        }
        return configuration
    }

    private static func say(_ response: HTTPResponse) {
        Probe.say([
            "status": .int(Int64(response.status)),
            "reason": response.reason.map { .string($0) } ?? .null,
            "fields": ProbeServer.list(response.fields),
            "trailers": ProbeServer.list(response.trailers),
            "body_length": .int(Int64(response.body.count)),
            "body_sha256": .string(Hex.encode(SHA256.hash(response.body))),
        ])
    }
}
