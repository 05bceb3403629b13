import Control
import Encoding

/// `understudy wait`: until a daemon is ready.
enum WaitCommand {
    static let spec = CommandSpec(
        "wait", "wait until a daemon is ready",
        options: [
            .one("timeout", "SECONDS", form: .number(0...86400), standard: "30", help: "how long to wait"),
            .one("ready-file", "FILE", standard: "STATE/daemon.json", help: "where the daemon says it is ready"),
        ],
        notes: ["Exit code 124 when the time is over: the message says whether nobody answered, or nobody was ready."],
        action: run)

    private static let pauseNanoseconds: UInt64 = 50_000_000

    private static func run(_ parsed: ParsedArguments, _ context: CommandContext) async throws(CommandFailure)
        -> ExitCode
    {
        let timeout = parsed.number("timeout") ?? 30
        let file = parsed["ready-file"] ?? context.settings.readyFile
        let clock = ContinuousClock()
        let end = clock.now + .seconds(timeout)
        var silence = "no daemon has written its ready file"
        repeat {
            let url = context.settings.controlURL ?? ReadyFile.read(at: file)?.control
            let state = if let url { await readiness(try context.connector.remote(url)) } else { Readiness.unknown }
            switch state {
            case .unknown: break
            case .silent: silence = "nobody answers at \(url ?? "")"
            case .notReady: silence = "the daemon answers and is not ready yet"
            case .ready:
                let document = context.settings.controlURL == nil ? ReadyFile.read(at: file)?.json : nil
                let place = url ?? ""
                context.output.result(
                    document ?? ["control": .string(place)], lines: ["ready: \(Display.safe(place))"])
                return .done
            }
            try? await Task.sleep(nanoseconds: pauseNanoseconds)
        } while clock.now < end
        throw CommandFailure(
            exit: .timedOut, code: "not_ready", message: "not ready within \(timeout) s: \(silence)",
            advice: "start one: understudy serve")
    }

    /// What `/readyz` came to.
    private enum Readiness {
        case unknown, silent, notReady, ready
    }

    private static func readiness(_ control: ControlClient) async -> Readiness {
        do throws(ControlFailure) {
            _ = try await control.get("/readyz")
            return .ready
        } catch {
            if case .noAnswer = error { return .silent }
            return .notReady
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
