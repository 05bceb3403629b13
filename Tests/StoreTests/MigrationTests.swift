import Device
import Encoding
import Foundation
import Testing

@testable import Store

@Suite struct `Migrations` {
    @Test(arguments: 0...Migration.all.count)
    func `a database of any earlier version comes up to this one with its data`(_ version: Int) throws {
        let scratch = try ScratchDirectory()
        let device = try Make.device()
        do {
            let old = try Store(directory: scratch.store, migrations: Array(Migration.all.prefix(version)))
            if version > 0 {
                try old.write { writer in
                    try writer.insertAsOfOld(device)
                    try writer.insert(Make.key(), for: device.id)
                    let knowsEnrolments = try writer.tableNames().contains("enrolments")
                    let kids = knowsEnrolments ? [("kid-1", 3), ("kid-2", 1), ("kid-3", 2)] : [] as [(String, Int64)]
                    for (kid, created) in kids { try writer.insertAsOfOld(kid, of: device, at: created) }
                }
            }
        }
        let store = try Store(directory: scratch.store)
        if version > 0 {
            #expect(try store.read { try $0.device(device.id) } == device)
            #expect(try store.read { try $0.keys(of: device.id) } == [Make.key()])
            let kids = try store.read { try $0.enrolments(of: device.id) }.map(\.kid)
            #expect(kids == (version > 1 ? ["kid-2", "kid-3", "kid-1"] : []))
        } else {
            try store.write { try $0.insert(device) }
        }
        // The newest table works, so all are there.
        try store.write { try $0.upsertIdPRecord(IdPRecord(kind: "k", key: "k", value: [1]), of: "main") }
        #expect(try tables(scratch) == tables(newest: ()))
    }

    @Test func `names are unique and none is empty`() {
        let names = Migration.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(!names.contains(""))
    }

    @Test func `a failing migration is named, rolled back, and leaves the version before it`() throws {
        let scratch = try ScratchDirectory()
        let broken = Migration(name: "broken", sql: "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);")
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) {
                try Store(directory: scratch.store, migrations: Migration.all + [broken])
            }
            guard case .migrationFailed(name: "broken", code: _)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        #expect(try tables(scratch) == tables(newest: ()))
        #expect(try Store(directory: scratch.store).read { try $0.deviceCount() } == 0)
    }

    @Test func `a migration that leaves orphans is refused`() throws {
        let scratch = try ScratchDirectory()
        do {
            let store = try Store(directory: scratch.store)
            try store.write { writer in
                try writer.insert(Make.device())
                try writer.insert(Make.key(), for: Make.id())
            }
        }
        let broken = Migration(
            name: "orphans",
            sql: "PRAGMA defer_foreign_keys = ON; UPDATE keys SET device = 'nobody';")
        #expect(throws: StoreError.migrationFailed(name: "orphans", code: .constraintForeignKey)) {
            try Store(directory: scratch.store, migrations: Migration.all + [broken])
        }
        let pixel = try Make.id()
        #expect(try Store(directory: scratch.store).read { try $0.keys(of: pixel) }.count == 1)
    }

    @Test func `stores opened at once on a new directory share one schema`() async throws {
        let scratch = try ScratchDirectory()
        let path = scratch.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let store = try Store(directory: path)
                    let device = try Make.device("device-\(number)")
                    try store.write { try $0.insert(device) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try Store(directory: path).read { try $0.deviceCount() } == 8)
    }

    private func tables(_ scratch: ScratchDirectory) throws -> [String] {
        try tables(Connection(path: scratch.database))
    }

    private func tables(newest: Void) throws -> [String] {
        let connection = try Connection(path: ":memory:")
        try connection.prepare(migrations: Migration.all)
        return try tables(connection)
    }

    private func tables(_ connection: Connection) throws -> [String] {
        try connection.all(SQL("test.schema", "SELECT name, sql FROM sqlite_schema ORDER BY name")) {
            (row) throws(StoreError) in "\(row.text(0)): \(row.text(1))"
        }
    }
}

extension StoreWriter {
    /// Writes an enrolment as the first version did, or as those that keep the order.
    fileprivate func insertAsOfOld(_ kid: String, of device: VirtualDevice, at created: Int64) throws(StoreError) {
        let isOrdered = try columnNames("enrolments").contains("sequence")
        let insert = SQL(
            "test.oldEnrolment",
            """
            INSERT INTO enrolments (device, issuer, kid, email, subject, key, created_at\(isOrdered ? ", sequence" : ""))
            VALUES (?1, 'https://idp.example', ?2, 'ann@example.com', 'sub-1', 'key-1', ?3\(isOrdered ? ", ?3" : ""))
            """)
        try connection.run(insert, [.text(device.id.rawValue), .text(kid), .integer(created)])
    }

    /// Writes a device as the first version did.
    fileprivate func insertAsOfOld(_ device: VirtualDevice) throws(StoreError) {
        let insert = SQL(
            "test.oldDevice",
            """
            INSERT INTO devices (id, platform, created_at, clock, scans, fallback_scan, face, install_key)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """)
        let scans = JSON.array(device.camera.queue.map { .string($0.text) })
        try connection.run(
            insert,
            [
                .text(device.id.rawValue), .text(device.platform.rawValue), .integer(device.createdAt.milliseconds),
                .text(device.clock.text), .text(scans.text), .text(device.camera.fallback.text),
                .blob(device.face.secret), .text(device.installKey.rawValue),
            ])
    }
}
