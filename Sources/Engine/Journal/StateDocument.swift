import Crypto
import Device
public import Encoding
public import SignIn

extension SignInState {
    /// The state's name and what it carries, as the control API shows it.
    public var documentMembers: [(String, JSON)] {
        var members: [(String, JSON)] = [("state", .string(name))]
        switch self {
        case .idle, .starting, .fetchingFaceToken, .runningPki, .redeeming, .postingResult: break
        case .authorizing(let url):
            if let url { members.append(("authorization_url", .string(url))) }
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
            if let pki = summary.pki { members.append(("pki", pki.document)) }
        case .failed(let failure):
            members += [("reason", .string(failure.reason)), ("message", .string(failure.message))]
        }
        return members
    }
}

extension SignInPKIResult {
    /// The finished operation as the control API shows it: bytes in base64url, and the forms other tools read besides.
    var document: JSON {
        var members: [(String, JSON)] = [
            ("kind", .string(kind.rawValue)), ("scope", .string(scope.rawValue)),
            ("context_base64url", .string(Base64URL.encode(context))), ("keys", .array(output.keys.map(\.document))),
        ]
        if let signature = output.signature {
            members.append(("signature", .string(Base64URL.encode(signature))))
            if let der = try? P256.ECDSASignature.der(raw: signature) {
                members.append(("signature_der", .string(Base64URL.encode(der))))
            }
        }
        return .object(members)
    }
}

extension PKIOutput.PublicKey {
    fileprivate var document: JSON {
        var members: [(String, JSON)] = [
            ("class", .string(name.rawValue)), ("public_key", .string(Base64URL.encode(point))),
        ]
        if let key = try? P256.PublicKey(x963: point) { members.append(("pem", .string(key.pem))) }
        return .object(members)
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
