import Control
import Encoding

/// `understudy fetch`: calls an API the way the app on the phone would, with the stored session.
enum FetchCommand {
    static let spec = CommandSpec(
        "fetch", "call an API with the phone's session",
        arguments: [ArgumentSpec(name: "URL", help: "what to fetch")],
        options: [
            .one("device", "D", required: true, help: "the phone"),
            .one("method", "METHOD", letter: "X", standard: "GET, or POST with a body", help: "the method"),
            .many("header", "'NAME: VALUE'", letter: "H", help: "a header field"),
            .one("data", "TEXT", letter: "d", form: .anything, help: "the body; @FILE for a file's, @- for stdin"),
            .one("data-file", "FILE", help: "the file, or with - the stdin, that holds the body"),
            .many("fault", "FAULT:fetch[:N]", help: "what to break: drop, lose-reply, status-503, wrong-ath-missing"),
            .flag("include", letter: "i", help: "print the status line and the header fields as well"),
            .one("output", "FILE", letter: "o", help: "write what would be printed to a file, whole or not at all"),
            .flag("silent", letter: "s", help: "say nothing on stderr but errors"),
        ] + AssertionOptions.specs,
        notes: [
            """
            The session is refreshed when it is due, and the request repeated once for a nonce and once after \
            invalid_token. A body from stdin, a pipe or another stream is sent once only: such a request is never \
            repeated.
            """,
            """
            The body goes to stdout, byte for byte, what happened to stderr. Exit code 0 below 400, 1 from 400 on, 69 \
            without an answer.
            """,
        ], action: run)

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let order = try order(parsed, binary: !context.output.isJSON)
        let path = Path.device(parsed.required("device")) + "/fetch"
        let control = try await context.control()
        try await AssertionOptions.register(parsed, device: parsed.required("device"), control)
        let document = try await calling { () throws(ControlFailure) in try await control.post(path, order) }
        let fetched = try FetchedDocument(document)
        if !parsed.has("silent") { fetched.story.forEach { context.output.note($0) } }
        let printed = fetched.printed(withHead: parsed.has("include"))
        if let file = parsed["output"] { try write(printed, to: file) }
        if context.output.isJSON {
            context.output.document(document)
        } else if parsed["output"] == nil {
            context.output.bytes(printed)
        }
        return fetched.status < 400 ? .done : .failed
    }

    /// What the control API is asked for.
    private static func order(_ parsed: ParsedArguments, binary: Bool) throws(CommandFailure) -> JSON {
        let body = try body(parsed)
        let method = parsed["method"] ?? (body == nil ? "GET" : "POST")
        var order = JSONObject([("url", .string(parsed.arguments[0])), ("method", .string(method))])
        if parsed["fault"] != nil { order["faults"] = .array(Words.divided(parsed.all("fault")).map(JSON.string)) }
        if parsed["header"] != nil {
            var headers: [JSON] = []
            for text in parsed.all("header") { headers.append(try header(text, parsed)) }
            order["headers"] = .array(headers)
        }
        if let body {
            order["body_base64url"] = .string(Base64URL.encode(body.bytes))
            order["one_shot"] = .bool(body.isOneShot)
        }
        order["binary"] = .bool(binary)
        return .object(order)
    }

    private static func body(_ parsed: ParsedArguments) throws(CommandFailure) -> RequestBody? {
        switch (parsed["data"], parsed["data-file"]) {
        case (nil, nil): nil
        case (let data?, nil): try RequestBody.read(RequestBody.Source(data: data))
        case (nil, let file?): try RequestBody.read(RequestBody.Source(file: file))
        case (.some, .some): throw .usage("fetch: --data and --data-file each give a body", of: parsed)
        }
    }

    /// `NAME: VALUE` as the API's pair.
    private static func header(_ text: String, _ parsed: ParsedArguments) throws(CommandFailure) -> JSON {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw .usage("fetch: --header '\(text)' is not 'NAME: VALUE'", of: parsed)
        }
        return [.string(String(parts[0])), .string(String(parts[1].drop { $0 == " " }))]
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(CommandFailure) {
        do throws(PrivateFileError) {
            try PrivateFile.write(bytes, to: path)
        } catch {
            throw CommandFailure(exit: .configuration, code: error.code, message: error.description, field: "output")
        }
    }
}
