import Control
import Encoding

/// `understudy wait`: until a daemon is ready.
enum WaitCommand {
    static let spec = CommandSpec(
        "wait", "wait until a daemon is ready",
        options: [
            .one("timeout", "SECONDS", form: .number(0...86400), standard: "30", help: "how long to wait"),
            .one("ready-file", "FILE", standard: "STATE/daemon.json", help: "where the daemon says it is ready"),
        ], notes: ["Exit code 69 when the time is over."], action: run)

    private static let pauseNanoseconds: UInt64 = 50_000_000

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let timeout = parsed.number("timeout") ?? 30
        let file = parsed["ready-file"] ?? context.settings.readyFile
        let clock = ContinuousClock()
        let end = clock.now + .seconds(timeout)
        repeat {
            let url = context.settings.controlURL ?? ReadyFile.read(at: file)?.control
            if let url, await isReady(try context.connector.remote(url)) {
                let document = context.settings.controlURL == nil ? ReadyFile.read(at: file)?.json : nil
                context.output.result(document ?? ["control": .string(url)], lines: ["ready: \(Display.safe(url))"])
                return .done
            }
            try? await Task.sleep(nanoseconds: pauseNanoseconds)
        } while clock.now < end
        throw CommandFailure(
            exit: .unavailable, code: "not_ready", message: "no daemon was ready within \(timeout) s",
            advice: "start one: understudy serve")
    }

    private static func isReady(_ control: ControlClient) async -> Bool {
        do throws(ControlFailure) {
            _ = try await control.get("/readyz")
            return true
        } catch {
            return false
        }
    }
}

/// `understudy stop`: ends the daemon.
enum StopCommand {
    static let spec = CommandSpec("stop", "end the daemon, and wait until it has gone", action: run)

    private static let steps = 200
    private static let pauseNanoseconds: UInt64 = 50_000_000

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let control = try await context.daemon()
        _ = try await calling { () throws(ControlFailure) in try await control.post("/v1/stop") }
        for _ in 0..<steps {
            if await hasGone(control, context.settings) {
                context.output.result(["result": "stopped"], lines: ["stopped"])
                return .done
            }
            try? await Task.sleep(nanoseconds: pauseNanoseconds)
        }
        throw CommandFailure(
            exit: .unavailable, code: "still_running", message: "the daemon took the order but still runs")
    }

    /// The process has let go of its state directory; of a daemon named by URL only its silence can be seen.
    private static func hasGone(_ control: ControlClient, _ settings: Settings) async -> Bool {
        if settings.controlURL == nil { return (try? StateLock.forCommand(in: settings.stateDirectory)) != nil }
        do throws(ControlFailure) {
            _ = try await control.get("/livez")
            return false
        } catch {
            if case .noAnswer = error { return true }
            return false
        }
    }
}
