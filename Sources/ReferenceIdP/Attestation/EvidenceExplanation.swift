public import Encoding

/// A piece of evidence looked at field by field: what is in it, what was expected, and whether it holds.
public struct EvidenceExplanation: Sendable, Hashable {
    /// What became of a field.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// It is as it must be.
        case ok
        /// It breaks its rule.
        case fault
        /// Nothing was known to compare it with, or nothing is demanded.
        case unchecked
    }

    /// One field.
    public struct Field: Sendable, Hashable {
        /// What it is, such as `counter`.
        public let name: String
        /// What it is in this evidence, fit to be shown.
        public let value: String
        /// Whether it holds.
        public let verdict: Verdict
        /// The dotted name of the rule that judges it.
        public let rule: String
        /// What the rule wants, in words.
        public let expected: String
    }

    /// The format's name on the wire.
    public let format: String
    /// The fields in the order they were looked at; after one that cannot be read none follows that depends on it.
    public internal(set) var fields: [Field] = []

    /// The fields that break their rules.
    public var faults: [Field] { fields.filter { $0.verdict == .fault } }

    /// Whether no field breaks its rule.
    public var holds: Bool { faults.isEmpty }

    /// The explanation as JSON: `format`, `holds` and `fields`.
    public var json: JSON {
        .object([
            ("format", .string(format)), ("holds", .bool(holds)),
            (
                "fields",
                .array(
                    fields.map { field in
                        .object([
                            ("name", .string(field.name)), ("value", .string(field.value)),
                            ("verdict", .string(field.verdict.rawValue)), ("rule", .string(field.rule)),
                            ("expected", .string(field.expected)),
                        ])
                    })
            ),
        ])
    }
}

/// The end of a look at evidence, whose rest cannot be read; the field that says why was noted.
struct EvidenceUnreadable: Error {}

extension EvidenceExplanation {
    /// Notes a field that is judged, or cannot be where `holds` is nil.
    mutating func note(_ name: String, _ value: String, _ rule: String, _ expected: String, _ holds: Bool?) {
        fields.append(
            Field(
                name: name, value: Clipped.text(value, limit: 200),
                verdict: holds.map { $0 ? .ok : .fault } ?? .unchecked, rule: "attestation.\(rule)",
                expected: expected))
    }

    /// Notes a field that must hold for the rest to mean anything.
    mutating func need(
        _ name: String, _ value: String, _ rule: String, _ expected: String, _ holds: Bool
    ) throws(EvidenceUnreadable) {
        note(name, value, rule, expected, holds)
        guard holds else { throw EvidenceUnreadable() }
    }

    /// Reads a part that must be readable for the rest to mean anything; only a failure is noted.
    mutating func read<Value, Failure: Error & CustomStringConvertible>(
        _ name: String, _ rule: String, _ expected: String, _ read: () throws(Failure) -> Value
    ) throws(EvidenceUnreadable) -> Value {
        do throws(Failure) {
            return try read()
        } catch {
            note(name, error.description, rule, expected, false)
            throw EvidenceUnreadable()
        }
    }

    /// Notes a part that is not there.
    mutating func missing<Value>(
        _ name: String, _ rule: String, _ expected: String, as type: Value.Type = Value.self
    ) throws(EvidenceUnreadable) -> Value {
        note(name, "missing, or of another type", rule, expected, false)
        throw EvidenceUnreadable()
    }
}
