import Control
import Encoding

/// `understudy fetch`: calls an API the way the app on the phone would, with the stored session.
enum FetchCommand {
    static let spec = CommandSpec(
        "fetch", "call an API with the phone's session",
        arguments: [ArgumentSpec(name: "URL", help: "what to fetch")],
        options: [
            .one("device", "D", required: true, help: "the phone"),
            .one("method", "METHOD", letter: "X", standard: "GET, or POST with --data", help: "the method"),
            .many("header", "'NAME: VALUE'", letter: "H", help: "a header field"),
            .one("data", "TEXT", letter: "d", form: .anything, help: "the body"),
        ],
        notes: [
            "The body goes to stdout, the status to stderr. Exit code 0 below 400, 1 from 400 on, 69 without an answer."
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let method = parsed["method"] ?? (parsed["data"] == nil ? "GET" : "POST")
        var body = JSONObject([("url", .string(parsed.arguments[0])), ("method", .string(method))])
        if parsed["header"] != nil {
            var headers: [JSON] = []
            for text in parsed.all("header") { headers.append(try header(text, parsed)) }
            body["headers"] = .array(headers)
        }
        body["body"] = parsed["data"].map(JSON.string)
        let path = Path.device(parsed.required("device")) + "/fetch"
        let control = try await context.control()
        let fetched = try await calling { () throws(ControlFailure) in try await control.post(path, .object(body)) }
        guard let status = fetched["status"]?.int else { throw .unexpectedAnswer("status") }
        tell(fetched, status, context.output)
        return status < 400 ? .done : .failed
    }

    /// `NAME: VALUE` as the API's pair.
    private static func header(_ text: String, _ parsed: ParsedArguments) throws(CommandFailure) -> JSON {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw .usage("fetch: --header '\(text)' is not 'NAME: VALUE'", of: parsed)
        }
        return [.string(String(parts[0])), .string(String(parts[1].drop { $0 == " " }))]
    }

    private static func tell(_ fetched: JSON, _ status: Int64, _ output: Output) {
        for attempt in (fetched["attempts"]?.array ?? []).dropLast() {
            let why = (attempt["repeated"] ?? attempt["why"]).map { " (\($0.shown))" } ?? ""
            output.note("first answered \(attempt.shown("status"))\(why), tried again")
        }
        let authorized = fetched.holds("authorized") ? "" : ", without a session"
        output.note("\(fetched.shown("method")) \(fetched.shown("url")): \(status)\(authorized)")
        if output.isJSON {
            output.document(fetched)
        } else if let text = fetched["body_base64url"]?.string, let bytes = try? Base64URL.decode(text) {
            output.bytes(bytes)
        } else if let text = fetched["body"]?.string {
            output.bytes(Array(text.utf8))
        }
    }
}
