import Device
import Encoding
import Foundation
import Testing

@testable import Store

/// One transaction that touches every record kind, cut into steps so that a fault can be put between any two.
private let steps: [@Sendable (StoreWriter, Int) throws -> Void] = [
    { try $0.insert(Make.device("device-\($1)")) },
    { try $0.insert(Make.key(), for: Make.id("device-\($1)")) },
    { try $0.insert(Make.enrolment(), for: Make.id("device-\($1)")) },
    { try $0.replaceSession(of: Make.id("shared"), with: Make.session(access: "access-\($1)")) },
    { try $0.upsert(Make.flow("flow-\($1)", device: "shared")) },
    { try $0.upsert(Make.flow("flow-\($1)", device: "shared", phase: "signedIn", isTerminal: true)) },
    {
        try $0.setNonce(
            "nonce-\($1)", of: Make.id("shared"), role: .resourceServer, origin: "https://api", at: Make.now)
    },
    { try $0.upsertIdPRecord(IdPRecord(kind: "user", key: "one", value: Array("\($1)".utf8)), of: "main") },
    { try $0.appendJournal(at: Make.now, device: Make.id("shared"), flow: nil, kind: "round-\($1)", body: []) },
]

private func writeRound(_ round: Int, in store: Store) throws {
    try store.write { writer in
        for step in steps { try step(writer, round) }
    }
}

/// What a store shows of the rounds written to it: all of these move together or the transaction was torn.
private struct Shown: Equatable, Sendable {
    var devices: Int
    var keys: Int
    var session: String?
    var finished: Int
    var nonce: String?
    var idp: String?
    var journal: Int64

    init(_ reader: StoreReader) throws {
        let shared = try Make.id("shared")
        let all = try reader.devices(limit: 1_000)
        devices = all.count - 1
        keys = try all.reduce(0) { try $0 + reader.keys(of: $1.id).count }
        session = try reader.session(of: shared)?.accessToken
        finished = try reader.flows(of: shared, limit: 1_000).filter(\.isTerminal).count
        nonce = try reader.nonce(of: shared, role: .resourceServer, origin: "https://api")
        idp = try reader.idpRecord("main", kind: "user", key: "one").map { String(decoding: $0, as: UTF8.self) }
        journal = try reader.journalEnd()
    }

    /// What there is to see after `rounds` whole rounds and nothing else.
    init(rounds: Int) {
        let last = rounds == 0 ? nil : "\(rounds)"
        devices = rounds
        keys = rounds
        session = last.map { "access-\($0)" }
        finished = rounds
        nonce = last.map { "nonce-\($0)" }
        idp = last
        journal = Int64(rounds)
    }
}

private func shown(_ store: Store) throws -> Shown {
    try store.read { try Shown($0) }
}

@Suite struct `Durability` {
    private struct Fault: Error {}

    @Test(arguments: 0...steps.count)
    func `a throw after any step leaves nothing of the transaction`(_ count: Int) throws {
        let store = try store(with: "shared")
        try writeRound(1, in: store)
        #expect(throws: Fault.self) {
            try store.write { writer in
                for step in steps.prefix(count) { try step(writer, 2) }
                throw Fault()
            }
        }
        #expect(try shown(store) == Shown(rounds: 1))
        try writeRound(2, in: store)
        #expect(try shown(store) == Shown(rounds: 2))
    }

    @Test(arguments: 0...steps.count)
    func `a process killed after any step leaves nothing of the transaction`(_ count: Int) async throws {
        let scratch = try ScratchDirectory()
        do {
            let store = try Store(directory: scratch.store)
            try store.write { try $0.insert(Make.device("shared")) }
            try writeRound(1, in: store)
        }
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.store as String, count = count as Int] in
            let store = try Store(directory: path)
            try store.write { writer in
                for step in steps.prefix(count) { try step(writer, 2) }
                kill(getpid(), SIGKILL)
            }
        }
        let store = try Store(directory: scratch.store)
        #expect(try shown(store) == Shown(rounds: 1))
        try writeRound(2, in: store)
        #expect(try shown(store) == Shown(rounds: 2))
    }

    @Test func `a log cut at any length opens to whole transactions, and a longer log to no fewer`() throws {
        let rounds = 4
        let (database, log) = try files(afterRounds: rounds)
        var previous = 0
        // Frames have 24 bytes of header and a page of 4096: cut at their borders, beside them, and in between.
        let borders = stride(from: 32, through: log.count, by: 4_120)
        let cuts = borders.flatMap { [$0, $0 + [-1, 1, 2_000][$0 % 3]] }.sorted()
        for cut in cuts where cut <= log.count {
            let found = try reopen(database, log.prefix(cut))
            #expect(found >= previous)
            previous = found
        }
        #expect(previous == rounds)
    }

    @Test func `a damaged frame in the log ends it at the transaction before`() throws {
        let (database, log) = try files(afterRounds: 4)
        for offset in stride(from: 40, to: log.count, by: 10_007) {
            var damaged = log
            damaged[offset] ^= 0x40
            let found = try reopen(database, damaged)
            #expect(found < 4)
        }
    }

    /// Database and log as a kill leaves them: schema and the shared device in the one, every round in the other.
    private func files(afterRounds rounds: Int) throws -> (database: Data, log: Data) {
        let scratch = try ScratchDirectory()
        do {
            let store = try Store(directory: scratch.store)
            try store.write { try $0.insert(Make.device("shared")) }
        }
        let store = try Store(directory: scratch.store)
        for round in 1...rounds { try writeRound(round, in: store) }
        let log = URL(filePath: scratch.database + "-wal")
        return (try Data(contentsOf: URL(filePath: scratch.database)), try Data(contentsOf: log))
    }

    /// Opens a copy of the files and gives the number of whole rounds in it, and expects nothing else in it.
    private func reopen(_ database: Data, _ log: Data) throws -> Int {
        let scratch = try ScratchDirectory()
        try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: true)
        try database.write(to: URL(filePath: scratch.database))
        try log.write(to: URL(filePath: scratch.database + "-wal"))
        let found = try shown(Store(directory: scratch.store))
        #expect(found == Shown(rounds: found.devices))
        return found.devices
    }

    @Test func `a full disk rolls back by name, and the store goes on when there is room`() throws {
        let connection = try Connection(path: ":memory:")
        try connection.prepare(migrations: Migration.all)
        let writer = StoreWriter(connection)
        try connection.execute(SQL("test.limit", "PRAGMA max_page_count = 60"))
        var stored = 0
        let error = #expect(throws: StoreError.self) {
            while true {
                try connection.transaction(.beginImmediate) {
                    try writer.insert(Make.device("device-\(stored)"))
                    let value = [UInt8](repeating: 1, count: 9_000)
                    try writer.upsertIdPRecord(IdPRecord(kind: "k", key: "\(stored)", value: value), of: "main")
                }
                stored += 1
            }
        }
        guard case .failed(_, code: .full)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try writer.deviceCount() == stored)
        try connection.execute(SQL("test.limit", "PRAGMA max_page_count = 6000"))
        try connection.transaction(.beginImmediate) { try writer.insert(Make.device("device-\(stored)")) }
        #expect(try writer.deviceCount() == stored + 1)
    }
}
