internal import Encoding
internal import HTTP
internal import OAuth
internal import Profiles

// Before any call: the configuration and what the device knows decide whether there will be one.

/// Waits for metadata.
struct Discovering: Codable, Sendable, Equatable {
    let ground: Ground
    /// What the device knows for evidence, should the server want any.
    let attestation: DeviceFacts.Attestation
    var sending: Sending
}

extension SenseCryptSignIn {
    mutating func idle(_ event: Event) -> [Effect] {
        switch event {
        case .start(let facts, let secrets): start(facts, secrets)
        case .cancel: fail(.cancelled)
        case .discovered, .discoveryFailed, .attested, .attestationUnavailable, .responded, .lost, .ceremonySigned,
            .keyUnavailable, .captured,
            .faceTokenOpened, .faceTokenNotOpened, .pkiRan, .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable,
            .committed, .retry:
            []
        }
    }

    private mutating func start(_ facts: DeviceFacts, _ secrets: FlowSecrets) -> [Effect] {
        precondition(PKCE.isVerifier(secrets.codeVerifier), "the edge draws a verifier of RFC 7636 section 4.1")
        if let rule = config.brokenRule { return fail(.invalidConfig(message: rule)) }
        // "If this device holds no enrolled key at all, the flow ends at once, before any call."
        guard let key = facts.ceremonyKey(for: config) else { return fail(.notEnrolled) }
        let ground = Ground(installThumbprint: facts.installThumbprint, secrets: secrets, key: key)
        let effect = emit(.discover(issuer: config.issuer))
        phase = .discovering(
            Discovering(ground: ground, attestation: facts.attestation, sending: Sending(effect: effect.id)))
        return [effect]
    }

    mutating func discovering(_ phase: Discovering, _ event: Event, at now: Instant) -> [Effect] {
        switch event {
        case .discovered(_, let metadata): discovered(phase, metadata)
        case .discoveryFailed(_, .unreachable(let detail)), .lost(_, let detail): rediscover(phase, detail)
        case .discoveryFailed(_, .unavailable(429, let retryAfter)):
            fail(.rateLimited(retryAfterSeconds: RetryAfter.seconds(retryAfter, at: now)))
        case .discoveryFailed(_, .unavailable(let status, _)):
            fail(.server(message: "the metadata address answered \(status)"))
        case .discoveryFailed(_, .invalid(let error)): fail(.server(message: error.description))
        case .keyUnavailable: fail(.keyUnavailable)
        case .cancel: fail(.cancelled)
        case .start, .attested, .attestationUnavailable, .responded, .ceremonySigned, .captured, .faceTokenOpened,
            .faceTokenNotOpened, .pkiRan,
            .pkiKeysNotReady, .faceTokenRotated, .faceTokenUnusable, .committed, .retry:
            []
        }
    }

    /// A lost discovery is treated like a lost start: asked once more.
    private mutating func rediscover(_ phase: Discovering, _ detail: String) -> [Effect] {
        guard phase.sending.attempt < 2 else { return fail(.network(lost: "metadata", detail)) }
        let effect = emit(.discover(issuer: config.issuer))
        self.phase = .discovering(
            Discovering(
                ground: phase.ground, attestation: phase.attestation,
                sending: Sending(effect: effect.id, attempt: phase.sending.attempt + 1)))
        return [effect]
    }

    private mutating func discovered(_ phase: Discovering, _ metadata: ServerMetadata) -> [Effect] {
        guard metadata.authorizationChallengeEndpoint != nil else {
            return fail(.server(message: "the metadata document has no authorization_challenge_endpoint"))
        }
        guard let endpoints = Endpoints(metadata, wire: config.wire) else {
            let name = config.wire.members.metadata.deviceCeremonyEndpoint
            return fail(.server(message: "the metadata document has no usable \(name)"))
        }
        return vouch(phase.ground, endpoints, phase.attestation)
    }
}

extension Endpoints {
    /// Takes the addresses from the metadata; nil without an endpoint a ceremony needs.
    init?(_ metadata: ServerMetadata, wire: SignInWire) {
        guard let challenge = metadata.authorizationChallengeEndpoint,
            let ceremony = metadata.deviceCeremonyEndpoint, ceremony.query == nil,
            let faceToken = try? ceremony.appending(path: wire.faceTokenPath),
            let attempt = try? ceremony.appending(path: wire.attemptPath),
            let abort = try? ceremony.appending(path: wire.abortPath)
        else { return nil }
        self.init(
            challenge: challenge.text, token: metadata.tokenEndpoint.text,
            revocation: metadata.revocationEndpoint?.text, faceToken: faceToken.text, attempt: attempt.text,
            abort: abort.text, attestationChallenge: metadata.challengeEndpoint?.text)
    }
}

extension SignInConfig {
    /// The scopes a start asks for.
    var requestedScopes: [String] { scopes.isEmpty ? ["openid"] : scopes }

    /// The first rule this configuration breaks, as a sentence, or nil.
    var brokenRule: String? {
        do {
            _ = try IssuerRule.url(issuer, allowPlainHTTPOnLoopback: allowPlainHTTPOnLoopback)
        } catch { return error.description }
        if clientID.isEmpty { return "the client id is empty" }
        if let resource, !Self.isAbsoluteURI(resource) {
            return "the resource must be an absolute URI without a fragment (RFC 8707 section 2)"
        }
        if !scopes.allSatisfy(Self.isScopeToken) {
            return "a scope holds a character that RFC 6749 section 3.3 does not allow"
        }
        return loginHint == "" ? "the login hint is empty" : nil
    }

    private static func isScopeToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    /// A scheme, a colon and more, all of it visible ASCII and no fragment.
    private static func isAbsoluteURI(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else { return false }
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, let first = parts[0].first, isLetter(first) else { return false }
        return parts[0].allSatisfy { isLetter($0) || "0123456789+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

extension DeviceFacts {
    /// The key that signs the ceremonies of a flow; nil where this device holds none for the issuer.
    ///
    /// Without a hint it is the newest enrolment's. With a hint it is that address's, compared without regard to case;
    /// where there is none, the flow goes on with a throwaway key so that the server sees the same calls.
    func ceremonyKey(for config: SignInConfig) -> CeremonyKey? {
        let here = enrolments.filter { $0.issuer.utf8.elementsEqual(config.issuer.utf8) }
        guard let newest = here.last else { return nil }
        guard let hint = config.loginHint?.lowercased() else { return .enrolment(kid: newest.kid) }
        return here.last { $0.email.lowercased() == hint }.map { .enrolment(kid: $0.kid) } ?? .throwaway
    }
}
