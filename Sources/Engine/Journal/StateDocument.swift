import Device
public import Encoding
public import SignIn

extension SignInState {
    /// The state's name and what it carries, as the control API shows it.
    public var documentMembers: [(String, JSON)] {
        var members: [(String, JSON)] = [("state", .string(name))]
        switch self {
        case .idle, .starting, .fetchingFaceToken, .postingResult: break
        case .awaitingFace(let attemptsLeft, let last):
            members.append(("attempts_left", .int(Int64(attemptsLeft))))
            if let last { members.append(("outcome", .string(last.text))) }
        case .checkingFace(let attemptsLeft):
            members.append(("attempts_left", .int(Int64(attemptsLeft))))
        case .postingResultFailed(let cause):
            members += [("cause", .string(cause.name)), ("message", .string(cause.message))]
        case .signedIn(let summary):
            if let subject = summary.subject { members.append(("subject", .string(subject))) }
            members += [
                ("scope", .array(summary.scope.map { .string($0) })),
                ("expires_at", .int(summary.expiresAt.seconds)), ("can_refresh", .bool(summary.canRefresh)),
            ]
        case .failed(let failure):
            members += [("reason", .string(failure.reason)), ("message", .string(failure.message))]
        }
        return members
    }
}

extension ScanReport {
    /// The report in the spelling scans have everywhere, such as `badCapture:blurred`.
    var text: String {
        switch self {
        case .mismatch: ScanOutcome.mismatch.text
        case .livenessFailed(let reason): ScanOutcome.livenessFailed(reason: reason).text
        case .badCapture(let fault): ScanOutcome.badCapture(fault).text
        }
    }
}
