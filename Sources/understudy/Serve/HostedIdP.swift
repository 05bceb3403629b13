import Control
import Crypto
import Encoding
import HTTP
import ReferenceIdP
import Store
import Transport

/// A reference IdP that listens in this process: its issuers on one port, its resource API on the next.
struct HostedIdP: Sendable {
    /// The systems there are reference IdPs of.
    static let systems = ["sensecrypt"]

    /// Where it is, as the control API and the ready file show it.
    let served: ServedIdP
    private let ports: [OpenPort]

    /// What a reference IdP is made of.
    struct Plan: Sendable {
        /// The system it stands for.
        let system: String
        /// Its place among the IdPs of the process, counted from 1: its records in the store go by it.
        let number: Int
        /// The issuers' port, with the API's behind it; 0 lets the system choose both.
        let port: Int
        /// The address to listen on.
        let bind: String
        /// Where its randomness comes from.
        let entropy: Entropy
    }

    /// Listens and answers; with a store it goes on where it ended.
    static func start(_ plan: Plan, store: Store?) async throws(CommandFailure) -> HostedIdP {
        let next = plan.port == 0 ? 0 : plan.port + 1
        let issuers = try await OpenPort.listen(on: plan.bind, port: plan.port, option: "idp-port")
        let api = try await OpenPort.listen(on: plan.bind, port: next, option: "idp-port")
        let name = plan.number == 1 ? plan.system : "\(plan.system)-\(plan.number)"
        let records = IdPRecords(name: name, store: store)
        let server: ReferenceIdPServer
        do {
            server = try ReferenceIdPServer(
                ReferenceIdPServer.Configuration(
                    origin: issuers.origin, apiOrigin: api.origin, entropy: plan.entropy,
                    records: try records.stored(), store: records.writer))
        } catch {
            throw CommandFailure(
                exit: .configuration, code: "idp_records", message: "the reference IdP does not start: \(error)")
        }
        issuers.serve(IdPHandler(server: server, surface: .identityProvider))
        api.serve(IdPHandler(server: server, surface: .resourceAPI))
        let served = ServedIdP(
            system: plan.system, origin: issuers.origin, api: api.origin,
            issuers: tenants(of: server).map { "\(issuers.origin)/\($0)" })
        return HostedIdP(served: served, ports: [issuers, api])
    }

    /// Lets requests under way be answered, and closes.
    func shutdown() async {
        for port in ports { await port.shutdown() }
    }

    /// The tenants there are, asked of the IdP itself.
    private static func tenants(of server: ReferenceIdPServer) -> [String] {
        let request = HTTPRequest(method: "GET", target: "/manage/tenants")
        let answer = server.handle(request, peerIsLoopback: true, hostIsLoopback: true)
        let document = try? JSON(parsing: answer.body)
        return (document?["tenants"]?.array ?? []).compactMap { $0["id"]?.string }
    }
}

/// Serves one of an IdP's two origins.
private struct IdPHandler: RequestHandler {
    let server: ReferenceIdPServer
    let surface: IdPSurface

    /// Signatures and the store take their time, so the answer is made off the loop's thread.
    func handle(_ request: HTTPRequest, from peer: Peer, reply: Reply) {
        let host = request.authority.flatMap { try? HTTPURL("http://\($0)/") }
        Task {
            reply.send(
                server.handle(
                    request, surface: surface, peerIsLoopback: peer.isLoopback,
                    hostIsLoopback: host?.isLoopback ?? false))
        }
    }
}

/// An IdP's durable records in the store of the state directory.
private struct IdPRecords {
    let name: String
    let store: Store?

    /// What an earlier process left.
    func stored() throws -> [RecordChange] {
        guard let store else { return [] }
        return try store.read { reader in
            var records: [RecordChange] = []
            try reader.forEachIdPRecord(name) { record in
                // A kind this build does not know is another build's; it is left alone.
                guard let kind = RecordChange.Kind(rawValue: record.kind) else { return }
                records.append(RecordChange(kind: kind, key: record.key, value: record.value))
            }
            return records
        }
    }

    /// Writes changes in one transaction; nil without a store.
    var writer: (@Sendable ([RecordChange]) throws -> Void)? {
        guard let store else { return nil }
        let name = name
        return { changes in
            try store.write { writer in
                for change in changes {
                    if let value = change.value {
                        let record = IdPRecord(kind: change.kind.rawValue, key: change.key, value: value)
                        try writer.upsertIdPRecord(record, of: name)
                    } else {
                        try writer.deleteIdPRecord(name, kind: change.kind.rawValue, key: change.key)
                    }
                }
            }
        }
    }
}
