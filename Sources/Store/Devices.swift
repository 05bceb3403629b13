public import Device
import Encoding

extension StoreReader {
    /// The device of that name, if there is one.
    public func device(_ id: DeviceID) throws(StoreError) -> VirtualDevice? {
        try connection.first(.device, [.text(id.rawValue)], VirtualDevice.init(row:))
    }

    /// At most `limit` devices in the order of their names, beginning after `after`.
    public func devices(limit: Int, after: DeviceID? = nil) throws(StoreError) -> [VirtualDevice] {
        try connection.all(
            .devices, [.text(after?.rawValue ?? ""), .integer(Int64(limit))], VirtualDevice.init(row:))
    }

    /// How many devices there are; counts them, so it is for reports and not for every request.
    public func deviceCount() throws(StoreError) -> Int {
        try connection.first(.deviceCount) { (row) throws(StoreError) in Int(row.integer(0)) } ?? 0
    }
}

extension StoreWriter {
    /// Adds a device.
    ///
    /// Throws `StoreError.duplicate` when its name is taken.
    public func insert(_ device: VirtualDevice) throws(StoreError) {
        try connection.run(
            .insertDevice,
            [
                .text(device.id.rawValue), .text(device.platform.rawValue), .integer(device.createdAt.milliseconds),
            ] + device.changeableColumns)
    }

    /// Stores a device's clock, camera, face, install key and attestation settings.
    ///
    /// Throws `StoreError.missing` when there is no such device.
    public func update(_ device: VirtualDevice) throws(StoreError) {
        let changed = try connection.run(.updateDevice, [.text(device.id.rawValue)] + device.changeableColumns)
        guard changed == 1 else { throw .missing(operation: SQL.updateDevice.name) }
    }

    /// Removes a device with its keys, enrolments, session, flows and nonces; tells whether there was one.
    ///
    /// Its journal entries stay.
    @discardableResult
    public func deleteDevice(_ id: DeviceID) throws(StoreError) -> Bool {
        try connection.run(.deleteDevice, [.text(id.rawValue)]) == 1
    }
}

extension SQL {
    private static let deviceColumns =
        "id, platform, created_at, clock, scans, fallback_scan, face, install_key, attestation"

    static let device = SQL("devices.get", "SELECT \(deviceColumns) FROM devices WHERE id = ?1")
    static let devices = SQL(
        "devices.list", "SELECT \(deviceColumns) FROM devices WHERE id > ?1 ORDER BY id LIMIT ?2")
    static let deviceCount = SQL("devices.count", "SELECT COUNT(*) FROM devices")
    static let insertDevice = SQL(
        "devices.insert", "INSERT INTO devices (\(deviceColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
    static let updateDevice = SQL(
        "devices.update",
        """
        UPDATE devices SET clock = ?2, scans = ?3, fallback_scan = ?4, face = ?5, install_key = ?6, attestation = ?7
        WHERE id = ?1
        """)
    static let deleteDevice = SQL("devices.delete", "DELETE FROM devices WHERE id = ?1")
}

extension VirtualDevice {
    fileprivate var changeableColumns: [Value] {
        let scans = JSON.array(camera.queue.map { .string($0.text) })
        return [
            .text(clock.text), .text(scans.text), .text(camera.fallback.text), .blob(face.secret),
            .text(installKey.rawValue), attestation.column,
        ]
    }

    fileprivate init(row: Row) throws(StoreError) {
        try self.init(
            id: row.required(0) { DeviceID(rawValue: row.text($0)) },
            platform: row.required(1) { Platform(rawValue: row.text($0)) },
            clock: row.required(3) { DeviceClock(row.text($0)) },
            camera: Camera(row: row),
            face: row.required(6) { Face(secret: row.bytes($0)) },
            installKey: KeyHandle(rawValue: row.text(7)),
            attestation: row.required(8) { AttestationSettings(column: row.textOrNil($0)) },
            createdAt: Instant(milliseconds: row.integer(2)))
    }
}

extension Camera {
    fileprivate init(row: Row) throws(StoreError) {
        let scans = try row.required(4) { Self.scans(row.text($0)) }
        let fallback = try row.required(5) { ScanOutcome(row.text($0)) }
        self = try row.required(4) { _ in try? Camera(queue: scans, fallback: fallback) }
    }

    private static func scans(_ text: String) -> [ScanOutcome]? {
        guard text != "[]" else { return [] }
        guard let texts = try? JSON(parsing: [UInt8](text.utf8)).array else { return nil }
        let scans = texts.compactMap { $0.string.flatMap { ScanOutcome($0) } }
        return scans.count == texts.count ? scans : nil
    }
}

extension AttestationSettings {
    /// The settings as text; nothing for those of a genuine phone, which most devices have.
    fileprivate var column: Value { .textOrNull(self == AttestationSettings() ? nil : json.text) }

    /// Reads the column; what it does not name is as a genuine phone has it.
    fileprivate init?(column: String?) {
        self.init()
        guard let column else { return }
        guard let json = try? JSON(parsing: [UInt8](column.utf8)), (try? apply(json)) != nil else { return nil }
    }
}
