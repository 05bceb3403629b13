import Encoding
import JOSE

/// A stored record that cannot be read back: the store is damaged or from another version.
public struct RestoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The record's kind and key.
    public let record: String
    /// The member that is missing or of another type.
    public let member: String

    /// A stable name for this error.
    public var code: String { "idp.restore" }
    /// Which record and which member.
    public var description: String { "cannot restore \(record): \(member)" }
}

/// Reads the members of one stored record.
struct RecordReader {
    let record: RecordChange
    private let object: JSONObject

    init(_ record: RecordChange) throws(RestoreError) {
        self.record = record
        guard let bytes = record.value, let object = (try? JSON(parsing: bytes))?.object else {
            throw RestoreError(record: "\(record.kind.rawValue) \(record.key)", member: "not a JSON object")
        }
        self.object = object
    }

    private init(_ record: RecordChange, _ object: JSONObject) {
        self.record = record
        self.object = object
    }

    /// The key behind `tenant/`.
    var localKey: String { String(record.key.drop { $0 != "/" }.dropFirst()) }

    /// The key of a record that is a tenant's own.
    var localID: String { record.key }

    func text(_ name: String) throws(RestoreError) -> String { try need(name, object[name]?.string) }
    func integer(_ name: String) throws(RestoreError) -> Int64 { try need(name, object[name]?.int) }
    func bool(_ name: String) throws(RestoreError) -> Bool { try need(name, object[name]?.bool) }
    func instant(_ name: String) throws(RestoreError) -> Instant { Instant(milliseconds: try integer(name)) }

    /// A number that records of an earlier build do not have; 0 there.
    func count(_ name: String) throws(RestoreError) -> Int64 { has(name) ? try integer(name) : 0 }

    func texts(_ name: String) throws(RestoreError) -> [String] {
        let array = try need(name, object[name]?.array)
        return array.compactMap(\.string)
    }

    func bytes(_ name: String) throws(RestoreError) -> [UInt8] {
        try need(name, object[name]?.string.flatMap { try? Base64URL.decode($0) })
    }

    /// A list of integers and the like, element by element.
    func optionalInteger(_ name: String) throws(RestoreError) -> Int64? { has(name) ? try integer(name) : nil }

    /// A member written as one of an enumeration's raw values.
    func word<Word: RawRepresentable<String>>(_ name: String) throws(RestoreError) -> Word {
        try need(name, object[name]?.string.flatMap(Word.init(rawValue:)))
    }

    func keys(_ name: String) throws(RestoreError) -> JWKSet {
        try need(name, object[name].flatMap { try? JWKSet($0) })
    }

    /// Whether a member is there and not null.
    func has(_ name: String) -> Bool { object[name].map { $0 != .null } ?? false }

    /// A text that may be null or missing.
    func optionalText(_ name: String) throws(RestoreError) -> String? { has(name) ? try text(name) : nil }

    /// The readers of an array of objects.
    func objects(_ name: String) throws(RestoreError) -> [RecordReader] {
        var readers: [RecordReader] = []
        for element in try need(name, object[name]?.array) {
            readers.append(RecordReader(record, try need(name, element.object)))
        }
        return readers
    }

    /// The reader of a member that is an object itself.
    func nested(_ name: String) throws(RestoreError) -> RecordReader {
        RecordReader(record, try need(name, object[name]?.object))
    }

    private func need<Value>(_ name: String, _ value: Value?) throws(RestoreError) -> Value {
        guard let value else { throw RestoreError(record: "\(record.kind.rawValue) \(record.key)", member: name) }
        return value
    }
}

/// A value that is kept as a durable record.
protocol Recorded {
    /// The record's JSON. Tokens are in it as hashes only.
    var recordJSON: JSON { get }
    /// Reads it back.
    init(_ reader: RecordReader) throws(RestoreError)
}

extension JSON {
    static func instant(_ instant: Instant) -> JSON { .int(instant.milliseconds) }
    static func texts(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }
    static func bytes(_ bytes: [UInt8]) -> JSON { .string(Base64URL.encode(bytes)) }
}
