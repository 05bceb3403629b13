public import Device
import Encoding

extension StoreReader {
    /// What holds of a device until somebody undoes it.
    public func condition(of device: DeviceID) throws(StoreError) -> DeviceCondition {
        try connection.first(.condition, [.text(device.rawValue)]) { (row) throws(StoreError) in
            DeviceCondition(isOffline: row.flag(0), isLockedOut: row.flag(1))
        } ?? DeviceCondition()
    }
}

extension StoreWriter {
    /// Stores what holds of a device.
    ///
    /// Throws `StoreError.missing` when there is no such device.
    public func setCondition(_ condition: DeviceCondition, of device: DeviceID) throws(StoreError) {
        guard condition != DeviceCondition() else {
            try connection.run(.deleteCondition, [.text(device.rawValue)])
            return
        }
        try connection.run(
            .setCondition, [.text(device.rawValue), .flag(condition.isOffline), .flag(condition.isLockedOut)])
    }

    /// Gives a device everything of another but its flows: keys, enrolments, session, nonces, evidence.
    ///
    /// Every table of the schema that says whose its rows are is copied, so that nothing is forgotten here when another
    /// kind of record comes.
    public func copyPossessions(of device: DeviceID, to other: DeviceID) throws(StoreError) {
        let tables = try connection.all(.possessions) { (row) throws(StoreError) in (row.text(0), row.text(1)) }
        for (table, columns) in tables {
            let copy = SQL(
                "life.copy.\(table)",
                "INSERT INTO \(table) (device, \(columns)) SELECT ?2, \(columns) FROM \(table) WHERE device = ?1")
            try connection.run(copy, [.text(device.rawValue), .text(other.rawValue)])
        }
    }
}

extension SQL {
    static let condition = SQL("life.condition", "SELECT offline, locked_out FROM device_conditions WHERE device = ?1")
    static let setCondition = SQL(
        "life.setCondition",
        """
        INSERT INTO device_conditions (device, offline, locked_out) VALUES (?1, ?2, ?3)
        ON CONFLICT (device) DO UPDATE SET offline = ?2, locked_out = ?3
        """)
    static let deleteCondition = SQL("life.deleteCondition", "DELETE FROM device_conditions WHERE device = ?1")
    /// The tables that refer to devices, and their columns but the device and a number that is the row's own.
    static let possessions = SQL(
        "life.possessions",
        """
        SELECT t.name, group_concat(c.name, ', ') FROM sqlite_schema t JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table' AND t.name NOT IN ('flows', 'journal') AND c.name NOT IN ('device', 'sequence')
            AND EXISTS (
                SELECT 1 FROM pragma_foreign_key_list(t.name) f
                WHERE f."table" = 'devices' AND f."from" = 'device')
        GROUP BY t.name ORDER BY t.name
        """)
}
