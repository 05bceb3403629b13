import Encoding
import Foundation
import HTTP
import Transport

/// The server of `probe serve`.
///
/// - `/facts` describes the request as JSON: method, target, fields, trailers, body length, peer.
/// - `/echo` answers with the request's body, `/chunked` with the same in chunks of at most 1000 bytes.
/// - `/head` answers five bytes, `/large/N` N bytes, `/status/N` an empty response with that status.
/// - `/events` sends three server-sent events.
struct ProbeServer: RequestHandler {
    static func run(_ options: ProbeOptions) async -> Int32 {
        var configuration = ServerConfiguration(port: options.number("port", default: 0))
        configuration.limits = HTTPLimits(body: 1 << 28)
        if let certificate = options["tls-cert"], let key = options["tls-key"] {
            configuration.tls = TLSServerSettings(certificateChainFile: certificate, privateKeyFile: key)
        }
        do throws(TransportError) {
            let server = try await HTTPServer.start(configuration, handler: ProbeServer())
            Probe.say(["port": .int(Int64(server.port))])
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            await server.shutdown()
            return 0
        } catch {
            return Probe.fail(error)
        }
    }

    func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) {
        let parts = request.path.split(separator: "/").map(String.init)
        let number = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        switch parts.first {
        case "facts": reply.send(.json(facts(of: request, from: peer)))
        case "echo": reply.send(HTTPResponse(status: 200, body: request.body))
        case "chunked": stream(request.body, to: reply)
        case "head": reply.send(HTTPResponse(status: 200, body: Array("hello".utf8)))
        case "large": reply.send(HTTPResponse(status: 200, body: Self.pattern(number)))
        case "status": reply.send(HTTPResponse(status: number))
        case "events": sendEvents(to: reply)
        default: reply.send(HTTPResponse(status: 404))
        }
    }

    /// Bytes that repeat every 251, a prime, so that a lost or doubled block shows.
    static func pattern(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            for index in 0..<count { buffer.initializeElement(at: index, to: UInt8(index % 251)) }
            filled = count
        }
    }

    private func facts(of request: HTTPRequest, from peer: Peer) -> JSON {
        var facts = JSONObject()
        facts["method"] = .string(request.method)
        facts["target"] = .string(request.target)
        facts["fields"] = Self.list(request.fields)
        facts["trailers"] = Self.list(request.trailers)
        facts["body_length"] = .int(Int64(request.body.count))
        facts["peer"] = .string(peer.address)
        facts["secure"] = .bool(peer.secure)
        return .object(facts)
    }

    /// Fields as a list of pairs: order, case and repeats matter here.
    static func list(_ fields: HTTPFields) -> JSON {
        .array(fields.map { .array([.string($0.name), .string($0.value)]) })
    }

    private func stream(_ body: [UInt8], to reply: Reply) {
        let stream = reply.stream(fields: [:])
        Task {
            for start in stride(from: 0, to: body.count, by: 1000) {
                stream.write(Array(body[start..<min(start + 1000, body.count)]))
                if stream.bufferedBytes > 100_000 { await stream.drained() }
            }
            stream.finish()
        }
    }

    private func sendEvents(to reply: Reply) {
        let stream = reply.stream(fields: ["Content-Type": "text/event-stream"])
        for number in 1...3 { stream.write(Array("data: \(number)\n\n".utf8)) }
        stream.finish()
    }
}
