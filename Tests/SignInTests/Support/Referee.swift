import Device
import Encoding

@testable import SignIn

/// Watches a flow from outside and names every invariant it breaks (design of the sign-in, sections 3 and 4).
struct Referee {
    private(set) var broken: [String] = []
    private var newestID = EffectID(rawValue: 0)
    private var lowest = 3
    private var mismatches = 0
    private var completion: Call.Body?
    private var committed = false
    private var isDone = false
    private var captures = 0
    private var operationRan = false
    private var attestations = 0
    private var sent: [Call.Purpose: Int] = [:]

    /// One step: the flow before, what happened (nil for a kill and resume), what came of it, the flow after.
    mutating func watch(_ before: SenseCryptSignIn, _ event: Event?, _ effects: [Effect], _ after: SenseCryptSignIn) {
        demand(effects.count <= 3, "effects are bounded")
        for effect in effects { demand(effect.id > newestID, "ids are fresh"); newestID = max(newestID, effect.id) }
        watchEnd(before, effects, after)
        watchAttempts(before, event, effects, after)
        watchProof(before, event, effects)
        watchCommit(before, event, effects, after)
        watchProgress(after)
        watchCancel(before, event, after)
        watchCalls(effects)
        watchOperation(before, event, effects, after)
    }

    private mutating func demand(_ holds: Bool, _ rule: String) {
        if !holds { broken.append(rule) }
    }

    /// One terminal state, then tidying up, one `done`, and silence.
    private mutating func watchEnd(_ before: SenseCryptSignIn, _ effects: [Effect], _ after: SenseCryptSignIn) {
        if before.state.isTerminal {
            demand(after.state == before.state, "a terminal state is the last one")
            let tidying = ["call(abort)", "call(revocation)", "signCeremony(abort)", "done"]
            demand(effects.allSatisfy { tidying.contains($0.action.name) }, "after the end there is only tidying up")
        }
        if before.isFinished { demand(effects.isEmpty && after == before, "a finished flow is silent") }
        let dones = effects.filter { $0.action == .done }.count
        demand(dones == (after.isFinished && !before.isFinished ? 1 : 0), "done comes once, with the end")
        demand(dones == 0 || effects.last?.action == .done, "done comes last")
        demand(!(isDone && !effects.isEmpty), "nothing follows done")
        if dones > 0 { isDone = true }
    }

    private mutating func watchAttempts(
        _ before: SenseCryptSignIn, _ event: Event?, _ effects: [Effect], _ after: SenseCryptSignIn
    ) {
        if let left = after.state.attemptsLeft {
            demand(left <= lowest && left >= 0, "attemptsLeft never rises")
            if let earlier = before.state.attemptsLeft {
                let isFree: Bool
                switch event {
                case .captured, .faceTokenOpened, nil, .lost, .ceremonySigned: isFree = true
                default: isFree = false
                }
                demand(!isFree || left == earlier, "only a mismatch lowers attemptsLeft")
            }
            lowest = min(lowest, left)
        }
        if case .faceTokenNotOpened = event, effects.contains(where: { $0.action.name == "signCeremony(attempt)" }) {
            mismatches += 1
            demand(after.state.attemptsLeft == lowest, "a mismatch is counted at once")
        }
        if effects.contains(where: { $0.action.name == "capture" }) {
            demand(mismatches < 3, "the third mismatch ends it without a fourth scan")
            demand(completion == nil, "a proven match costs no second scan")
            demand((after.state.attemptsLeft ?? 0) > 0, "no capture without an attempt left")
        }
    }

    private mutating func watchProof(_ before: SenseCryptSignIn, _ event: Event?, _ effects: [Effect]) {
        for case .call(let call) in effects.map(\.action) where call.purpose == .completion {
            demand(completion == nil || completion == call.body, "the proof is the same bytes every time")
            completion = call.body
        }
        if before.state.isParked, case .retry = event {
            demand(effects.map(\.action.name) == ["call(completion)"], "a retry sends the proof")
        }
    }

    private mutating func watchCommit(
        _ before: SenseCryptSignIn, _ event: Event?, _ effects: [Effect], _ after: SenseCryptSignIn
    ) {
        if effects.contains(where: { $0.action.name == "commit" }) {
            if case .responded(_, let response) = event {
                demand(response == Replies.goodTokens, "only a valid token response is stored")
            } else {
                demand(event == nil && before.phase.name == "committing", "a commit is asked again after a kill alone")
            }
        }
        if case .committed = event, before.phase.name == "committing" { committed = after.state.name == "signedIn" }
        demand((after.state.name == "signedIn") == committed, "signed in means stored, and failed means not")
    }

    /// A flow that is under way waits for exactly one effect, or it would hang.
    private mutating func watchProgress(_ after: SenseCryptSignIn) {
        guard !after.state.isTerminal, !after.state.isParked, after.state != .idle else { return }
        let awaited = (0..<newestID.rawValue + 1).filter { after.phase.awaits(EffectID(rawValue: $0)) }
        demand(awaited.count == 1, "a flow under way awaits one effect")
    }

    private mutating func watchCancel(_ before: SenseCryptSignIn, _ event: Event?, _ after: SenseCryptSignIn) {
        guard case .cancel = event, !before.state.isTerminal, before.phase.name != "committing" else { return }
        demand(after.state == .failed(.cancelled), "a cancel ends any flow under way")
    }

    /// A key operation that is asked for runs before the rotation, and one that is refused first shows no camera.
    private mutating func watchOperation(
        _ before: SenseCryptSignIn, _ event: Event?, _ effects: [Effect], _ after: SenseCryptSignIn
    ) {
        captures += effects.filter { $0.action.name == "capture" }.count
        if case .pkiRan = event, before.phase.name == "operating" { operationRan = true }
        if effects.contains(where: { $0.action.name == "rotateFaceToken" }) {
            demand(operationRan == (before.config.pki != nil), "an operation asked for runs, before the rotation")
        }
        // The face is shown again, and the operation runs again.
        if effects.contains(where: { $0.action.name == "capture" }) { operationRan = false }
        switch after.state {
        case .failed(.pkiNotAvailable), .failed(.invalidPkiRequest), .failed(.pkiScopeNotAllowed):
            demand(captures == 0, "a refusal before the scan shows no camera")
        case .signedIn(let summary):
            demand((summary.pki == nil) == (after.config.pki == nil), "who asked for an operation hears of it")
        default: break
        }
    }

    /// However a server answers, nothing is sent forever.
    private mutating func watchCalls(_ effects: [Effect]) {
        for case .call(let call) in effects.map(\.action) { sent[call.purpose, default: 0] += 1 }
        for case .attest in effects.map(\.action) { attestations += 1 }
        demand(sent[.attestationChallenge, default: 0] <= 2, "a challenge is asked for twice")
        demand(sent[.start, default: 0] <= 5, "a start is sent twice, each with a nonce repeat, and once for evidence")
        demand(attestations <= 5, "evidence is made for a send of a start")
        demand(sent[.faceToken, default: 0] <= 2, "a fetch is sent twice")
        demand(sent[.attempt, default: 0] <= 6, "a report is sent twice, three times over")
        demand(sent[.abort, default: 0] <= 1, "an abort is sent once")
        demand(sent[.revocation, default: 0] <= 2, "a revocation is sent twice")
    }
}

extension SignInState {
    /// The attempts shown, in the states that show them.
    var attemptsLeft: Int? {
        switch self {
        case .awaitingFace(let left, _), .checkingFace(let left): left
        case .idle, .starting, .fetchingFaceToken, .authorizing, .redeeming, .runningPki, .postingResult,
            .postingResultFailed, .signedIn, .failed:
            nil
        }
    }
}
