import Device
import Encoding
import OAuth
import Testing

@testable import SignIn

/// Prints what each step does with each event, from the machine itself.
enum PhaseTable {
    static let path = "docs/phases.md"

    static func markdown() throws -> String {
        var text = """
            # The phases of a SenseCrypt sign-in

            Printed by the tests of `SignIn` from the machine itself, and compared with it on every run. After a
            change of the machine, write it anew: `UNDERSTUDY_WRITE_DOCS=1 swift test --filter PhaseDiagramTests`.

            A step is finer than a state: the app sees the state. The reasons for each move are in the files of
            `Sources/SignIn/SenseCrypt`, one a phase, and their sources in `docs/sensecrypt-wire.md`.

            ## Which events a step takes

            Any other pair is a late or duplicate answer, or a command that does not apply: it changes nothing.


            """
        text += try legality()
        text += """

            ## What comes of them

            `5xx` stands for any status of 500 and above. Where an effect is a call, its purpose is in brackets; where
            it signs a ceremony, its `act`. A nonce challenge is answered once for each send, with the same call.


            """
        text += try moves()
        return text
    }

    private static func legality() throws -> String {
        let kinds = Steps.everyEvent(about: EffectID(rawValue: 0)).map(\.name)
        var rows = "| step | takes |\n| --- | --- |\n"
        for sample in try Steps.all() {
            let taken = kinds.filter { Legality.table[sample.flow.phase.name, default: []].contains($0) }
            rows += "| \(sample.flow.phase.name) | \(taken.isEmpty ? "nothing" : taken.joined(separator: ", ")) |\n"
        }
        return rows
    }

    private static func moves() throws -> String {
        var rows =
            "| state | step | event | next state | next step | effects |\n| --- | --- | --- | --- | --- | --- |\n"
        for stance in try stances() {
            for (event, words) in stimuli(for: stance) {
                var flow = stance.flow
                let effects = flow.handle(event, at: Phone.now)
                rows += row(stance, words, effects, flow)
            }
            var flow = stance.flow
            let effects = flow.resume(at: Phone.now)
            if flow != stance.flow { rows += row(stance, "a kill, then resume", effects, flow) }
        }
        return rows
    }

    private static func row(_ before: Stance, _ words: String, _ effects: [Effect], _ after: SenseCryptSignIn) -> String
    {
        let done = effects.map(\.action.name).joined(separator: ", ")
        let cells = [
            shown(before.flow.state), before.words, words, shown(after.state), after.phase.name,
            done.isEmpty ? "-" : done,
        ]
        return "| " + cells.joined(separator: " | ") + " |\n"
    }

    private static func shown(_ state: SignInState) -> String {
        switch state {
        case .awaitingFace(let left, let outcome):
            "awaitingFace(\(left)" + (outcome.map { ", \($0.name)" } ?? "") + ")"
        case .checkingFace(let left): "checkingFace(\(left))"
        case .postingResultFailed(let cause): "postingResultFailed(\(cause.name))"
        case .failed(let failure): "failed(\(failure.reason))"
        case .idle, .starting, .fetchingFaceToken, .runningPki, .authorizing, .redeeming, .postingResult, .signedIn:
            state.name
        }
    }
}
