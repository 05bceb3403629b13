import Foundation
import Testing

@testable import Store

@Suite struct `Opening a store` {
    @Test func `the directory and every file in it are the owner's alone`() throws {
        let scratch = try ScratchDirectory()
        let store = try Store(directory: scratch.store + "/deep/er")
        try store.write { try $0.insert(Make.device()) }
        for directory in ["", "/deep", "/deep/er"] {
            #expect(try scratch.mode(scratch.store + directory) == 0o700)
        }
        for suffix in ["", "-wal", "-shm"] {
            #expect(try scratch.mode(scratch.store + "/deep/er/understudy.db" + suffix) == 0o600)
        }
    }

    @Test func `files others could read are tightened, and a directory that exists keeps its mode`() throws {
        let scratch = try ScratchDirectory()
        do {
            let store = try Store(directory: scratch.store)
            try store.write { try $0.insert(Make.device()) }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.store)
        try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: scratch.database)
        let store = try Store(directory: scratch.store)
        #expect(try scratch.mode(scratch.database) == 0o600)
        #expect(try scratch.mode(scratch.store) == 0o755)
        #expect(try store.read { try $0.deviceCount() } == 1)
    }

    @Test func `what cannot be a directory is refused by path and reason`() throws {
        let scratch = try ScratchDirectory()
        let file = scratch.path + "/file"
        try Data("x".utf8).write(to: URL(filePath: file))
        for path in ["", file, file + "/below", "/proc/understudy"] {
            let error = #expect(throws: StoreError.self) { try Store(directory: path) }
            #expect(error?.code == "store.directory", "\(path)")
        }
    }

    @Test(arguments: [200, 5_000, 100_000])
    func `a file that is no database is refused and left as it is`(_ count: Int) throws {
        let scratch = try ScratchDirectory()
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) })
        try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: true)
        try bytes.write(to: URL(filePath: scratch.database))
        #expect(throws: StoreError.notADatabase(path: scratch.database)) { try Store(directory: scratch.store) }
        #expect(try Data(contentsOf: URL(filePath: scratch.database)) == bytes)
    }

    @Test func `an empty file becomes a store`() throws {
        let scratch = try ScratchDirectory()
        try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: scratch.database))
        #expect(try Store(directory: scratch.store).read { try $0.deviceCount() } == 0)
    }

    @Test(arguments: [
        ("CREATE TABLE theirs (x)", Int32(0)), ("PRAGMA application_id = 7", 7), ("PRAGMA user_version = 3", 0),
    ])
    func `another program's database is refused and left as it is`(_ sql: String, _ owner: Int32) throws {
        let scratch = try ScratchDirectory()
        try raw(scratch, sql)
        let before = try Data(contentsOf: URL(filePath: scratch.database))
        #expect(throws: StoreError.foreignDatabase(path: scratch.database, applicationID: owner)) {
            try Store(directory: scratch.store)
        }
        #expect(try Data(contentsOf: URL(filePath: scratch.database)) == before)
    }

    @Test func `a database newer than this build is refused by both versions`() throws {
        let scratch = try ScratchDirectory()
        _ = try Store(directory: scratch.store)
        try raw(scratch, "PRAGMA user_version = 99")
        #expect(
            throws: StoreError.newerDatabase(path: scratch.database, found: 99, supported: Migration.all.count)
        ) {
            try Store(directory: scratch.store)
        }
    }

    @Test func `damage inside the file is reported as damage and costs no more data`() throws {
        let scratch = try ScratchDirectory()
        do {
            let store = try Store(directory: scratch.store)
            try store.write { writer in
                for number in 0..<2_000 { try writer.insert(Make.device("device-\(number)")) }
            }
        }
        var bytes = try Data(contentsOf: URL(filePath: scratch.database))
        let start = bytes.count / 2
        bytes.replaceSubrange(start..<start + 16_384, with: Data(repeating: 0xA5, count: 16_384))
        try bytes.write(to: URL(filePath: scratch.database))

        let error = #expect(throws: StoreError.self) {
            let store = try Store(directory: scratch.store)
            _ = try store.read { try $0.devices(limit: 5_000) }
        }
        #expect(error?.code == "store.damaged")
        #expect(try Data(contentsOf: URL(filePath: scratch.database)) == bytes)
    }

    private func raw(_ scratch: ScratchDirectory, _ sql: String) throws {
        try FileManager.default.createDirectory(atPath: scratch.store, withIntermediateDirectories: true)
        try Connection(path: scratch.database).execute(SQL("raw", sql))
    }
}
