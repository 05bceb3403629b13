public import Encoding

/// What a run comes to: one row a rule.
public struct Matrix: Sendable, Hashable {
    /// The server that was judged.
    public let issuer: String
    /// The client it was judged by.
    public let clientID: String
    /// The rows, in the order they were run.
    public var rows: [RowResult]

    /// Takes the rows of a run.
    public init(issuer: String, clientID: String, rows: [RowResult]) {
        self.issuer = issuer
        self.clientID = clientID
        self.rows = rows
    }

    /// How many rows came to a verdict.
    public func count(_ verdict: Verdict) -> Int { rows.count { $0.verdict == verdict } }

    /// The matrix as a document: `issuer`, `client_id`, `summary` of counts, and `rows`, each with its `probes`.
    public var json: JSON {
        .object([
            ("issuer", .string(issuer)), ("client_id", .string(clientID)),
            ("summary", .object(Verdict.allCases.map { ($0.rawValue, .int(Int64(count($0)))) })),
            ("rows", .array(rows.map(\.json))),
        ])
    }
}

extension RowResult {
    /// The row as a document.
    public var json: JSON {
        .object([
            ("rule", .string(rule)), ("source", .string(source)), ("wanted", .string(wanted)),
            ("verdict", .string(verdict.rawValue)), ("reason", reason.map(JSON.string) ?? .null),
            (
                "probes",
                .array(
                    probes.map { probe in
                        .object([
                            ("probe", .string(probe.probe)), ("expected", .string(probe.expected)),
                            ("got", .string(probe.got)), ("verdict", .string(probe.verdict.rawValue)),
                        ])
                    })
            ),
        ])
    }
}
