public import Device
import Encoding

extension StoreReader {
    /// Every enrolment of a device, oldest first.
    public func enrolments(of device: DeviceID) throws(StoreError) -> [Enrolment] {
        try connection.all(.enrolmentsOfDevice, [.text(device.rawValue)], Enrolment.init(row:))
    }

    /// The enrolments of a device at one issuer, oldest first.
    public func enrolments(of device: DeviceID, issuer: String) throws(StoreError) -> [Enrolment] {
        try connection.all(.enrolmentsAtIssuer, [.text(device.rawValue), .text(issuer)], Enrolment.init(row:))
    }

    /// A device other than one named that is enrolled at an issuer, as one user or as anybody but that user.
    ///
    /// Looks through enrolments one by one: for somebody who asks for another phone by name of a fault, and for nobody
    /// else.
    public func otherEnrolment(
        than device: DeviceID, issuer: String, subject: String, ofSameUser isSame: Bool
    ) throws(StoreError) -> (device: DeviceID, enrolment: Enrolment)? {
        let values: [Value] = [.text(device.rawValue), .text(issuer), .text(subject), .flag(isSame)]
        return try connection.first(.otherEnrolment, values) { (row) throws(StoreError) in
            (try row.required(6) { DeviceID(rawValue: row.text($0)) }, try Enrolment(row: row))
        }
    }
}

extension StoreWriter {
    /// Adds an enrolment to a device.
    ///
    /// Throws `StoreError.missing` when there is no such device and `duplicate` when that key is enrolled already.
    public func insert(_ enrolment: Enrolment, for device: DeviceID) throws(StoreError) {
        try connection.run(
            .insertEnrolment,
            [
                .text(device.rawValue), .text(enrolment.issuer), .text(enrolment.kid), .text(enrolment.email),
                .text(enrolment.subject), .text(enrolment.key.rawValue), .integer(enrolment.createdAt.milliseconds),
            ])
    }

    /// Removes one enrolment and leaves its key; tells whether there was one.
    @discardableResult
    public func deleteEnrolment(kid: String, issuer: String, of device: DeviceID) throws(StoreError) -> Bool {
        try connection.run(.deleteEnrolment, [.text(device.rawValue), .text(issuer), .text(kid)]) == 1
    }
}

extension SQL {
    private static let enrolmentColumns = "issuer, kid, email, subject, key, created_at"

    static let enrolmentsOfDevice = SQL(
        "enrolments.list", "SELECT \(enrolmentColumns) FROM enrolments WHERE device = ?1 ORDER BY sequence")
    static let enrolmentsAtIssuer = SQL(
        "enrolments.atIssuer",
        "SELECT \(enrolmentColumns) FROM enrolments WHERE device = ?1 AND issuer = ?2 ORDER BY sequence")
    static let otherEnrolment = SQL(
        "enrolments.other",
        """
        SELECT \(enrolmentColumns), device FROM enrolments
        WHERE device <> ?1 AND issuer = ?2 AND (subject = ?3) = ?4 ORDER BY device LIMIT 1
        """)
    static let insertEnrolment = SQL(
        "enrolments.insert",
        """
        INSERT INTO enrolments (device, \(enrolmentColumns), sequence)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
            1 + (SELECT COALESCE(MAX(sequence), 0) FROM enrolments WHERE device = ?1))
        """)
    static let deleteEnrolment = SQL(
        "enrolments.delete", "DELETE FROM enrolments WHERE device = ?1 AND issuer = ?2 AND kid = ?3")
}

extension Enrolment {
    fileprivate init(row: Row) throws(StoreError) {
        self.init(
            issuer: row.text(0), email: row.text(2), subject: row.text(3), kid: row.text(1),
            key: KeyHandle(rawValue: row.text(4)), createdAt: Instant(milliseconds: row.integer(5)))
    }
}
