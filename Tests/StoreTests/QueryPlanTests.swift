import Foundation
import Testing

@testable import Store

@Suite struct `Query plans` {
    /// Every statement a record kind runs.
    static let statements: [SQL] = [
        .device, .devices, .deviceCount, .insertDevice, .updateDevice, .deleteDevice,
        .key, .keysOfDevice, .insertKey, .invalidateKey, .invalidateKeys, .deleteKey,
        .enrolmentsOfDevice, .enrolmentsAtIssuer, .otherEnrolment, .insertEnrolment, .deleteEnrolment,
        .session, .insertSession, .updateSession, .deleteSession,
        .flow, .flowsOfDevice, .liveFlowsOfDevice, .newestFlows, .newestLiveFlows, .liveFlows, .stepFlow,
        .upsertFlow, .pruneFlows,
        .nonce, .newestNonce, .updateNonce, .insertNonce, .trimNonces,
        .journalSince, .journalOfDevice, .journalOfFlow, .journalEnd, .journalStart, .appendJournal, .trimJournal,
        .idpRecord, .idpRecordsFrom, .idpRecordsAfter, .idpAllRecords, .upsertIdPRecord, .deleteIdPRecord,
        .deleteIdPRecords, .attestationRoots, .insertAttestationRoots, .attestedInstall, .setAttestedInstall,
        .otherAppAttestKey, .clientInstance, .setClientInstance,
        .condition, .setCondition, .deleteCondition, .possessions,
    ]

    /// Where a scan or a sort is meant, and why it is no cost that grows with use.
    static let excused: [String: String] = [
        "devices.count": "for reports",
        "enrolments.other": "for a wrong on purpose, until the first row that fits",
        "flows.live": "once at start, over live flows only",
        "flows.newest": "the last rows and no more",
        "flows.prune": "over finished flows only, which it bounds",
        "life.possessions": "reads the schema, when a device is copied",
        "nonces.newest": "sorts one device's nonces, 65 at most",
        "nonces.trim": "sorts one device's nonces, 65 at most",
        "journal.end": "the last row and no more",
        "journal.start": "the first row and no more",
    ]

    @Test(arguments: statements.map(\.name))
    func `every lookup uses an index`(_ name: String) throws {
        let sql = try #require(Self.statements.first { $0.name == name })
        for step in try plan(sql.text) where Self.excused[name] == nil {
            #expect(!step.hasPrefix("SCAN"), "\(name): \(step)")
            #expect(!step.contains("TEMP B-TREE"), "\(name): \(step)")
        }
    }

    @Test(arguments: excused.keys)
    func `a statement is excused only while it needs to be`(_ name: String) throws {
        let sql = try #require(Self.statements.first { $0.name == name })
        #expect(try plan(sql.text).contains { $0.hasPrefix("SCAN") || $0.contains("TEMP B-TREE") })
    }

    @Test(arguments: [
        "keys", "enrolments", "sessions", "flows", "nonces", "attested_installs", "client_instances",
        "device_conditions",
    ])
    func `removing a device finds what belongs to it by index`(_ table: String) throws {
        for step in try plan("SELECT 1 FROM \(table) WHERE device = ?1") {
            #expect(step.hasPrefix("SEARCH"), "\(step)")
        }
    }

    /// The list above is written by hand; this reads the sources so that no statement is left out of it.
    @Test func `every statement of the sources is looked at, under a name of its own`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Store")
        let files = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
        let names = try files.filter { $0.pathExtension == "swift" }.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).matches(of: /SQL\(\s*"([a-z]+\.[A-Za-z]+)"/).map {
                String($0.output.1)
            }
        }
        #expect(Set(names).count == names.count)
        // A dump goes over everything there is: that is what it is for.
        let kinds = ["transaction.", "schema.", "connection.", "dump."]
        let ofRecords = names.filter { name in !kinds.contains { name.hasPrefix($0) } }
        #expect(Set(ofRecords) == Set(Self.statements.map(\.name)))
    }

    private func plan(_ text: String) throws -> [String] {
        let connection = try Connection(path: ":memory:")
        try connection.prepare(migrations: Migration.all)
        let count = text.matches(of: /\?([0-9]+)/).compactMap { Int($0.output.1) }.max() ?? 0
        let values = Array(repeating: Value.null, count: count)
        return try connection.all(SQL("test.plan", "EXPLAIN QUERY PLAN " + text), values) {
            (row) throws(StoreError) in row.text(3)
        }
    }
}
