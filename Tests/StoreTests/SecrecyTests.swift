import Device
import Encoding
import Testing

@testable import Store

@Suite struct `Secrecy` {
    /// Errors of every kind a record's values could leak through: refused by a constraint, and unreadable on return.
    @Test func `no error repeats a value of a record`() throws {
        let connection = try Connection(path: ":memory:")
        try connection.prepare(migrations: Migration.all)
        let writer = StoreWriter(connection)
        let secret = "hush-hush"
        let pixel = try Make.id()
        let (session, flow) = (Make.session(access: secret, refresh: secret), try Make.flow(body: Array(secret.utf8)))
        var errors: [any Error] = []
        func collect(_ body: () throws -> Void) {
            do {
                try body()
                Issue.record("this should have been refused")
            } catch {
                errors.append(error)
            }
        }

        collect { try writer.replaceSession(of: pixel, with: session) }
        collect { try writer.upsert(flow) }
        collect {
            try writer.setNonce(secret, of: pixel, role: .resourceServer, origin: secret, at: Make.now)
        }
        try writer.insert(Make.device())
        collect { try writer.insert(Make.device()) }
        try writer.insert(Make.key(secret), for: pixel)
        collect { try writer.insert(Make.key(secret), for: pixel) }
        for (table, column) in [
            ("devices", "clock"), ("devices", "scans"), ("devices", "fallback_scan"), ("devices", "platform"),
            ("keys", "purpose"),
        ] {
            try connection.run(SQL("test.\(table).\(column)", "UPDATE \(table) SET \(column) = ?1"), [.text(secret)])
            collect { _ = try table == "keys" ? writer.keys(of: pixel).count : (writer.device(pixel) == nil ? 0 : 1) }
            try connection.run(SQL("test.clean", "DELETE FROM devices"))
            try writer.insert(Make.device())
            try writer.insert(Make.key(secret), for: pixel)
        }
        collect { try connection.run(SQL("test.values", "SELECT json(?1)"), [.text(secret)]) }
        collect { try connection.run(SQL("test.type", "UPDATE devices SET created_at = ?1"), [.text(secret)]) }

        #expect(errors.count == 12)
        for error in errors {
            #expect(!"\(error) \(String(reflecting: error))".contains(secret))
            #expect((error as? StoreError)?.code.hasPrefix("store.") == true)
        }
    }

    @Test func `an unreadable column is named`() throws {
        let connection = try Connection(path: ":memory:")
        try connection.prepare(migrations: Migration.all)
        let writer = StoreWriter(connection)
        let device = try Make.device()
        try writer.insert(device)
        try connection.run(SQL("test.spoil", "UPDATE devices SET clock = 'noon'"))
        #expect(throws: StoreError.unreadableRecord(operation: "devices.get", column: "clock")) {
            try writer.device(device.id)
        }
    }

    @Test func `records that hold secrets do not show them`() throws {
        let session = Make.session(access: "hush-hush", refresh: "hush-hush")
        let flow = try Make.flow(body: Array("hush-hush".utf8))
        let record = IdPRecord(kind: "user", key: "one", value: Array("hush-hush".utf8))
        var dumped = ""
        dump((session, flow, record), to: &dumped)
        for shown in ["\(session) \(flow) \(record)", dumped] {
            #expect(!shown.contains("hush-hush"))
            #expect(!shown.contains("104"))
        }
    }
}
