import Control
import Encoding

/// Prints a flow's steps as they come, until it rests.
struct FlowFollower {
    let control: ControlClient
    let output: Output
    /// Who tells the steps.
    let narrator: FlowNarrator

    /// How long the API may hold an answer back, in seconds.
    private static let patience = "30"

    /// Follows a flow from what is known of it.
    ///
    /// - Parameter after: the last step that is known already.
    /// - Returns: the flow as it rests: ended, parked, or left behind by a process that ended.
    func follow(_ flow: JSON, after known: Int64 = 0, showTokens: Bool) async throws(CommandFailure) -> JSON {
        guard let id = flow["id"]?.string else { throw .unexpectedAnswer("flow id") }
        var narrator = narrator
        var current = flow
        var seen = known
        var askedForScan = false
        var askedForBrowser = false
        while true {
            for step in current["steps"]?.array ?? [] {
                guard let n = step["n"]?.int, n > seen else { continue }
                output.say(narrator.lines(step))
                seen = n
            }
            if current["result"]?.string != nil || current["driven"]?.bool == false { break }
            if let url = current["authorization_url"]?.string, !askedForBrowser {
                askedForBrowser = true
                output.note("open in a browser: \(Display.safe(url))")
            }
            if current.holds("waiting_for_scan"), !askedForScan {
                askedForScan = true
                output.note("waiting for a scan: understudy flow scan \(Display.safe(id)) match")
            }
            current = try await ask(id, [("after", String(seen)), ("wait", Self.patience)])
        }
        return showTokens ? try await ask(id, [("after", String(seen)), ("show_tokens", "true")]) : current
    }

    private func ask(_ id: String, _ query: [(String, String)]) async throws(CommandFailure) -> JSON {
        do throws(CommandFailure) {
            return try await calling { () throws(ControlFailure) in try await control.get(Path.flow(id), query) }
        } catch {
            guard error.exit == .unavailable else { throw error }
            var lost = error
            lost.advice = "the sign-in is kept; look at it with: understudy flow show \(id)"
            throw lost
        }
    }
}

/// How a flow came out: the last lines, the document, the exit code.
enum FlowEnding {
    /// Prints the outcome of a flow that rests.
    static func tell(_ flow: JSON, _ output: Output) -> ExitCode {
        output.result(document(flow), lines: lines(flow, output.style))
        if output.isJSON { lines(flow, output.style).forEach { output.note($0) } }
        return flow["result"]?.string == "signed_in" ? .done : .failed
    }

    /// The document printed with `--json`.
    static func document(_ flow: JSON) -> JSON {
        var ending = JSONObject([("result", flow["result"] ?? .null)])
        switch flow["result"]?.string {
        case "signed_in":
            ending["flow"] = flow["id"]
            ending["session"] = flow["session"]
            ending["pki"] = flow["pki"]
            ending["shared_secret"] = flow["shared_secret"]
            ending["shared_secret_hex"] = flow["shared_secret_hex"]
        case "parked":
            ending["flow"] = flow["id"]
            ending["cause"] = flow["cause"]
            ending["message"] = flow["message"]
        case nil where flow["driven"]?.bool == false:
            ending["result"] = "left_behind"
            ending["state"] = flow["state"]
            ending["flow"] = flow["id"]
        default:
            ending["reason"] = flow["reason"] ?? .null
            ending["message"] = flow["message"]
            ending["flow"] = flow["id"]
        }
        return .object(ending)
    }

    /// The last lines a person reads.
    static func lines(_ flow: JSON, _ style: Style) -> [String] {
        let id = flow.shown("id")
        let message = flow["message"].map { ": \($0.shown)" } ?? ""
        switch flow["result"]?.string {
        case "signed_in":
            return DeviceLines.session(flow["session"] ?? .null) + PKILines.lines(flow) + [style.good("signed in")]
        case "parked":
            return [
                style.bad("parked: \(flow.shown("cause"))") + message,
                "go on with: understudy flow retry \(id)", "or give up: understudy flow cancel \(id)",
            ]
        case nil where flow["driven"]?.bool == false:
            return [
                style.bad("left behind: \(flow.shown("state"))") + ": the phone's process ended in the middle of it",
                "go on with: understudy device life \(flow.shown("device")) relaunch",
            ]
        default:
            return [style.bad("failed: \(flow.shown("reason"))") + message]
        }
    }
}
