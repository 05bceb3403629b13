import Device
import Encoding
import Foundation
import Testing

@testable import Store

@Suite struct `Several writers on one directory` {
    /// Adds one to a counter kept in the store, as a reading and a writing step of one transaction.
    private static func count(in store: Store) throws {
        try store.write { writer in
            let before = try writer.idpRecord("main", kind: "counter", key: "one") ?? []
            let after = withUnsafeBytes(of: UInt32(number(before) + 1).bigEndian) { [UInt8]($0) }
            try writer.upsertIdPRecord(IdPRecord(kind: "counter", key: "one", value: after), of: "main")
            try writer.appendJournal(at: Make.now, device: nil, flow: nil, kind: "counted", body: after)
        }
    }

    private static func number(_ bytes: [UInt8]) -> Int {
        bytes.reduce(0) { $0 * 256 + Int($1) }
    }

    private static func expect(_ count: Int, in store: Store) throws {
        let value = try store.read { try $0.idpRecord("main", kind: "counter", key: "one") }
        #expect(number(try #require(value)) == count)
        let bodies = try store.read { try $0.journal(since: 0, limit: 10_000) }.map(\.body)
        #expect(bodies.count == count)
        #expect(Set(bodies).count == count)
    }

    @Test func `two connections in one process lose nothing`() async throws {
        let scratch = try ScratchDirectory()
        let stores = [try Store(directory: scratch.store), try Store(directory: scratch.store)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores + stores {
                group.addTask { for _ in 0..<50 { try Self.count(in: store) } }
            }
            try await group.waitForAll()
        }
        try Self.expect(200, in: stores[0])
    }

    @Test func `two processes lose nothing`() async throws {
        let scratch = try ScratchDirectory()
        let store = try Store(directory: scratch.store)
        async let other = #expect(processExitsWith: .success) { [path = scratch.store as String] in
            let store = try Store(directory: path)
            for _ in 0..<100 { try Self.count(in: store) }
        }
        for _ in 0..<100 { try Self.count(in: store) }
        _ = await other
        try Self.expect(200, in: store)
    }

    /// Closing any descriptor of the file would drop this process's locks on it, and another process could then delete
    /// the log under an open store.
    @Test func `opening a second store leaves the locks of the first alone`() async throws {
        let scratch = try ScratchDirectory()
        let first = try Store(directory: scratch.store)
        try first.write { try $0.insert(Make.device("a")) }
        let second = try Store(directory: scratch.store)
        await #expect(processExitsWith: .success) { [path = scratch.store as String] in
            // The last to close a database checkpoints it and removes its log: this process must not think it is.
            let store = try Store(directory: path)
            try store.write { try $0.insert(Make.device("b")) }
        }
        #expect(FileManager.default.fileExists(atPath: scratch.database + "-wal"))
        for store in [first, second] { #expect(try store.read { try $0.deviceCount() } == 2) }
        try first.write { try $0.insert(Make.device("c")) }
        #expect(try second.read { try $0.deviceCount() } == 3)
    }

    @Test func `a reader sees one moment while another connection writes`() throws {
        let scratch = try ScratchDirectory()
        let (reader, writer) = (try Store(directory: scratch.store), try Store(directory: scratch.store))
        try writer.write { try $0.insert(Make.device("a")) }
        let counts = try reader.read { read in
            let before = try read.deviceCount()
            try writer.write { try $0.insert(Make.device("b")) }
            return [before, try read.deviceCount()]
        }
        #expect(counts == [1, 1])
        #expect(try reader.read { try $0.deviceCount() } == 2)
    }

    @Test func `a writer that waits in vain is told that the database is busy`() throws {
        let scratch = try ScratchDirectory()
        let holder = try Store(directory: scratch.store)
        let waiting = try Connection(path: scratch.database)
        try waiting.prepare(migrations: Migration.all)
        try waiting.execute(SQL("test.patience", "PRAGMA busy_timeout = 0"))
        try holder.write { (_) in
            _ = #expect(throws: StoreError.busy(operation: "transaction.begin")) {
                try waiting.transaction(.beginImmediate) {}
            }
        }
        try waiting.transaction(.beginImmediate) {}
    }

    @Test func `a reader used after its transaction is a programming error`() async {
        await #expect(processExitsWith: .failure) {
            let store = try Store.inMemory()
            var kept: StoreReader?
            try store.read { kept = $0 }
            _ = try kept?.deviceCount()
        }
    }
}
