import Encoding
import HTTP

/// What came of an API call, as the control API shows it.
struct FetchedDocument {
    /// The status.
    let status: Int
    /// The reason phrase, where the server gave one.
    let reason: String?
    /// The header fields in order.
    let fields: HTTPFields
    /// The body.
    let body: [UInt8]
    private let document: JSON

    /// Reads the document; throws where it lacks something, as a daemon of another version might.
    init(_ document: JSON) throws(CommandFailure) {
        guard let status = document["status"]?.int, (100...999).contains(status) else {
            throw .unexpectedAnswer("status")
        }
        guard let coded = document["body_base64url"]?.string, let body = try? Base64URL.decode(coded) else {
            throw .unexpectedAnswer("body_base64url")
        }
        self.status = Int(status)
        self.body = body
        self.document = document
        reason = document["reason"]?.string
        fields = HTTPFields(
            (document["headers"]?.array ?? []).compactMap { pair in
                guard let pair = pair.array, pair.count == 2, let name = pair[0].string, let value = pair[1].string
                else { return nil }
                return (name, value)
            })
    }

    /// The body, with the head in front of it as it stands on the wire.
    func printed(withHead: Bool) -> [UInt8] {
        guard withHead else { return body }
        let head = HTTPResponseHead(status: status, reason: reason, fields: fields)
        return ((try? HTTPEncoder.head(head)) ?? []) + body
    }

    /// What happened on the way, a line each.
    var story: [String] {
        var lines = (document["refreshes"]?.array ?? []).map { refresh in
            let why = refresh["message"].map { ": \($0.shown)" } ?? ""
            return refresh["result"]?.string == "renewed"
                ? "the session was renewed" : "the session was not renewed, \(refresh.shown("result"))\(why)"
        }
        for attempt in (document["attempts"]?.array ?? []).dropLast() {
            let why = attempt["repeated"].map { " (\($0.shown))" } ?? ""
            lines.append("first answered \(attempt.shown("status"))\(why), tried again")
        }
        let authorized = document.holds("authorized") ? "" : ", without a session"
        return lines + ["\(document.shown("method")) \(document.shown("url")): \(status)\(authorized)"]
    }
}
