import Control
import Encoding
import Glibc
import HTTP
import Transport

/// `understudy proxy`: a local address of an API, where every request carries the phone's session.
enum ProxyCommand {
    static let spec = CommandSpec(
        "proxy", "forward requests to an API with the phone's session",
        options: [
            .one("device", "D", required: true, help: "the phone"),
            .one("to", "URL", required: true, help: "the API: an origin, and perhaps a path put in front of others"),
            .one("port", "N", form: .port, standard: "0", help: "the port to listen on; 0 for any that is free"),
            .one("ready-file", "FILE", help: "where to write the URL as JSON when it is ready"),
        ] + AssertionOptions.specs,
        notes: [
            """
            A browser, curl or a test suite calls the printed URL as it would call the API: each request gets the \
            session's Authorization and DPoP headers, with refresh and repeats as for fetch, and the API's answer \
            comes back unchanged. Without an answer of the API's: 502 with a problem document that says why.
            """,
            "It listens on 127.0.0.1 and ends after SIGTERM or SIGINT.",
        ]
    ) { (parsed, context) throws(CommandFailure) in try await run(parsed, context, until: .fromSystem()) }

    /// Forwards until the order to stop comes.
    static func run(
        _ parsed: ParsedArguments, _ context: CommandContext, until stop: StopSignal
    ) async throws(CommandFailure) -> ExitCode {
        let device = parsed.required("device")
        let forwarding = Forwarding(base: try base(parsed.required("to")))
        let control = try await context.control()
        // A device that is not there is better told now than with every request.
        _ = try await calling { () throws(ControlFailure) in try await control.get(Path.device(device)) }
        try await AssertionOptions.register(parsed, device: device, control)
        let port = try await OpenPort.listen(on: "127.0.0.1", port: parsed.number("port") ?? 0, option: "port")
        port.serve(ProxyHandler(forwarding, device: device, control: control))

        let ready: JSON = [
            "proxy": .string(port.origin), "to": .string(forwarding.base.text), "device": .string(device),
            "pid": .int(Int64(getpid())),
        ]
        if let path = parsed["ready-file"] { try announce(ready, at: path) }
        context.output.result(ready, lines: [port.origin])
        await stop.wait()

        context.output.note("stopping")
        if let path = parsed["ready-file"] { unlink(path) }
        await port.shutdown()
        return .done
    }

    private static func base(_ text: String) throws(CommandFailure) -> HTTPURL {
        let url: HTTPURL
        do throws(HTTPURLError) {
            url = try HTTPURL(text)
        } catch {
            throw .badValue("to", "--to '\(text)': \(error)")
        }
        guard url.query == nil else { throw .badValue("to", "--to '\(text)': a query cannot stand in front of paths") }
        return url
    }

    private static func announce(_ ready: JSON, at path: String) throws(CommandFailure) {
        do throws(PrivateFileError) {
            try PrivateFile.write(ready.serialized() + [UInt8(ascii: "\n")], to: path)
        } catch {
            throw CommandFailure(
                exit: .configuration, code: error.code, message: error.description, field: "ready-file")
        }
    }
}
