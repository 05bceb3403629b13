public import Device
import Encoding

extension StoreReader {
    /// The flow of that identifier, if it is stored.
    public func flow(_ id: String) throws(StoreError) -> FlowRecord? {
        try connection.first(.flow, [.text(id)], FlowRecord.init(row:))
    }

    /// At most `limit` flows of a device, the newest first; only those not over when `liveOnly`.
    public func flows(
        of device: DeviceID, liveOnly: Bool = false, limit: Int
    ) throws(StoreError) -> [FlowRecord] {
        try connection.all(
            liveOnly ? .liveFlowsOfDevice : .flowsOfDevice, [.text(device.rawValue), .integer(Int64(limit))],
            FlowRecord.init(row:))
    }

    /// At most `limit` flows of all devices, the newest first; only those not over when `liveOnly`.
    public func flows(liveOnly: Bool = false, limit: Int) throws(StoreError) -> [FlowRecord] {
        try connection.all(liveOnly ? .newestLiveFlows : .newestFlows, [.integer(Int64(limit))], FlowRecord.init(row:))
    }

    /// Every flow that is not over, for recovery after a start: device by device, the oldest first.
    public func liveFlows() throws(StoreError) -> [FlowRecord] {
        try connection.all(.liveFlows, [], FlowRecord.init(row:))
    }
}

extension StoreWriter {
    /// Stores a flow, new or known; a known one stays with the device it began on.
    ///
    /// Throws `StoreError.missing` when there is no such device.
    public func upsert(_ flow: FlowRecord) throws(StoreError) {
        // Nearly every call leaves `is_terminal` as it was, and then no index has to change.
        let step: [Value] = [
            .text(flow.id), .text(flow.phase), .flag(flow.isTerminal), .flag(flow.isParked),
            .integer(flow.updatedAt.milliseconds), .blob(flow.body),
        ]
        if !flow.isTerminal, try connection.run(.stepFlow, step) == 1 { return }
        try connection.run(.upsertFlow, step + [.text(flow.device.rawValue)])
    }

    /// The most flows one pruning removes, so that nothing waits long for it.
    public static var mostFlowsPruned: Int { 500 }

    /// Removes flows that are over, but for the `newest` that ended last; tells how many.
    ///
    /// Removes at most `mostFlowsPruned`: when it removed as many, there may be more.
    @discardableResult
    public func pruneTerminalFlows(keeping newest: Int) throws(StoreError) -> Int {
        precondition(newest >= 0)
        return try connection.run(.pruneFlows, [.integer(Int64(newest)), .integer(Int64(Self.mostFlowsPruned))])
    }
}

extension SQL {
    private static let flowColumns = "id, device, phase, is_terminal, is_parked, updated_at, body"

    static let flow = SQL("flows.get", "SELECT \(flowColumns) FROM flows WHERE id = ?1")
    static let flowsOfDevice = SQL(
        "flows.list", "SELECT \(flowColumns) FROM flows WHERE device = ?1 ORDER BY sequence DESC LIMIT ?2")
    static let liveFlowsOfDevice = SQL(
        "flows.listLive",
        "SELECT \(flowColumns) FROM flows WHERE device = ?1 AND is_terminal = 0 ORDER BY sequence DESC LIMIT ?2")
    static let newestFlows = SQL(
        "flows.newest", "SELECT \(flowColumns) FROM flows ORDER BY sequence DESC LIMIT ?1")
    static let newestLiveFlows = SQL(
        "flows.newestLive",
        "SELECT \(flowColumns) FROM flows WHERE is_terminal = 0 ORDER BY sequence DESC LIMIT ?1")
    static let liveFlows = SQL(
        "flows.live", "SELECT \(flowColumns) FROM flows WHERE is_terminal = 0 ORDER BY device, sequence")
    static let stepFlow = SQL(
        "flows.step",
        """
        UPDATE flows SET phase = ?2, is_parked = ?4, updated_at = ?5, body = ?6
        WHERE id = ?1 AND is_terminal = 0 AND ?3 = 0
        """)
    static let upsertFlow = SQL(
        "flows.upsert",
        """
        INSERT INTO flows (id, phase, is_terminal, is_parked, updated_at, body, device)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (id) DO UPDATE SET phase = ?2, is_terminal = ?3, is_parked = ?4, updated_at = ?5, body = ?6
        """)
    static let pruneFlows = SQL(
        "flows.prune",
        """
        DELETE FROM flows WHERE sequence IN (
            SELECT sequence FROM flows WHERE is_terminal = 1
            ORDER BY updated_at DESC, sequence DESC LIMIT ?2 OFFSET ?1)
        """)
}

extension FlowRecord {
    fileprivate init(row: Row) throws(StoreError) {
        try self.init(
            id: row.text(0),
            device: row.required(1) { DeviceID(rawValue: row.text($0)) },
            phase: row.text(2), isTerminal: row.flag(3), isParked: row.flag(4),
            updatedAt: Instant(milliseconds: row.integer(5)), body: row.bytes(6))
    }
}
