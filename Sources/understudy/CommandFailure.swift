internal import Control
internal import Encoding

/// Why a command did not do what was asked: a code for programs, a sentence for people, an exit code for scripts.
struct CommandFailure: Error, Equatable {
    /// What the program exits with.
    let exit: ExitCode
    /// A stable name, that of the control API where it refused.
    let code: String
    /// A sentence.
    let message: String
    /// The field at fault.
    var field: String?
    /// The rule that was broken.
    var rule: String?
    /// What to do about it, in a sentence.
    var advice: String?

    /// The document printed with `--json`.
    var json: JSON {
        var error = JSONObject([("code", .string(code)), ("message", .string(message))])
        if let field { error["field"] = .string(field) }
        if let rule { error["rule"] = .string(rule) }
        if let advice { error["advice"] = .string(advice) }
        return .object([("error", .object(error))])
    }

    /// The lines printed on stderr.
    var lines: [String] {
        let place = field.map { " (field \($0))" } ?? ""
        let line = "understudy: " + Display.safe(message + place)
        return [line] + (advice.map { [Display.safe($0)] } ?? [])
    }
}

extension CommandFailure {
    /// No daemon where one is needed.
    static func noDaemon(state: String) -> CommandFailure {
        CommandFailure(
            exit: .unavailable, code: "no_daemon", message: "no daemon is running for \(state)",
            advice: "start one: understudy serve")
    }

    /// A value that was given is not acceptable.
    static func badValue(_ option: String, _ message: String) -> CommandFailure {
        CommandFailure(exit: .badInput, code: "invalid_field", message: message, field: option)
    }

    /// A document lacks what this command needs: another program answers there, or another version.
    static func unexpectedAnswer(_ what: String) -> CommandFailure {
        CommandFailure(exit: .internalError, code: "unexpected_answer", message: "the answer has no \(what)")
    }

    /// The failure a call of the control API comes to.
    init(_ failure: ControlFailure) {
        switch failure {
        case .noAnswer(.unreachable(let url, let reason)):
            self.init(
                exit: .unavailable, code: "unreachable", message: "no daemon answers at \(url): \(reason)",
                advice: "start one: understudy serve")
        case .noAnswer(let error):
            self.init(exit: .configuration, code: error.code, message: error.description)
        case .refused(let problem):
            self.init(
                exit: Self.exit(for: problem.code, status: problem.status), code: problem.code,
                message: problem.detail, field: problem.field, rule: problem.rule)
        case .notTheAPI(let call, let status, let reason):
            self.init(
                exit: .unavailable, code: "not_the_control_api",
                message: "what answered \(call) with \(status) is not Understudy: \(reason)")
        }
    }

    /// The exit code of a refusal: what was asked was wrong, or could not be had, or we are at fault.
    static func exit(for code: String, status: Int) -> ExitCode {
        switch code {
        case "invalid_field", "unknown_field", "missing_field", "malformed_json", "unsupported_media_type", "too_large":
            .badInput
        case "unreachable", "refresh_network", "refresh_server": .unavailable
        case "host_not_allowed", "misdirected": .configuration
        case "internal", "storage", "method_not_allowed": .internalError
        default: status == 422 ? .badInput : status >= 500 && code.hasPrefix("status_") ? .unavailable : .failed
        }
    }
}

/// Runs calls of the control API and turns their failures into the command's.
func calling<Value>(
    _ body: () async throws(ControlFailure) -> Value
) async throws(CommandFailure) -> Value {
    do throws(ControlFailure) {
        return try await body()
    } catch {
        throw CommandFailure(error)
    }
}

extension CommandFailure {
    /// Keeps what asynchronous work comes to.
    static func caught<Value>(
        _ work: () async throws(CommandFailure) -> Value
    ) async -> Result<Value, CommandFailure> {
        do throws(CommandFailure) {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }
}
