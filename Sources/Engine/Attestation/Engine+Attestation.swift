import Crypto
public import Device
import Encoding
import JOSE
import Store

/// One piece of evidence asked for by itself, without a flow.
public struct EvidenceOrder: Sendable {
    /// What the evidence is bound to besides the challenge.
    public enum Kind: Sendable, Hashable {
        /// Nothing: the challenge alone.
        case challengeOnly
        /// A start of a sign-in.
        case start(clientID: String, codeChallenge: String)
        /// An enrolment of the device key of this thumbprint, or of the install's key where none is named.
        case enrolment(kid: String?)
    }

    /// The format.
    public var format: EvidenceFormat
    /// The challenge.
    public var challenge: String
    /// What else.
    public var kind: Kind
    /// What phone and app, and what is wrong on purpose.
    public var settings: AttestationSettings
    /// A challenge of an earlier day, for `staleChallenge`.
    public var staleChallenge: String?

    /// Asks for evidence.
    public init(
        format: EvidenceFormat, challenge: String, kind: Kind = .challengeOnly,
        settings: AttestationSettings = AttestationSettings(), staleChallenge: String? = nil
    ) {
        self.format = format
        self.challenge = challenge
        self.kind = kind
        self.settings = settings
        self.staleChallenge = staleChallenge
    }
}

/// A piece of evidence with what a person checks it against.
public struct MadeEvidence: Sendable {
    /// The evidence.
    public let evidence: Evidence
    /// The App Attest key's counter afterwards; nil for other formats than assertions.
    public let counter: UInt32?
    /// SHA-256 of the root it goes back to, in hexadecimal; nil for tokens, which have none.
    public let rootFingerprint: String?
}

/// The platform's evidence about the phones of this state directory.
extension Engine {
    /// The authorities that vouch for this state directory's phones, made when they are first asked for.
    ///
    /// Throws `.storage`.
    public func attestationRoots() throws(EngineError) -> AttestationRoots {
        try world.roots.roots(of: world.store)
    }

    /// Makes one piece of evidence of a device without any flow.
    ///
    /// Throws `.noSuchDevice`, `.attestation` where the platform gives none, `.invalid` where the device holds no key
    /// of the thumbprint named, or `.storage`.
    public func attest(_ order: EvidenceOrder, device: DeviceID) async throws(EngineError) -> MadeEvidence {
        try await actor(device).attest(order)
    }
}

extension DeviceActor {
    /// Whose evidence is remembered as whose that asked for by itself.
    private static let alone = "urn:understudy:attest"

    func attest(_ order: EvidenceOrder) throws(EngineError) -> MadeEvidence {
        let subject: P256.PublicKey
        let data: ClientData
        switch order.kind {
        case .challengeOnly:
            subject = installKey.publicKey
            data = ClientData(challenge: order.challenge, request: .challengeOnly)
        case .start(let clientID, let codeChallenge):
            subject = installKey.publicKey
            data = .start(
                challenge: order.challenge, clientID: clientID, codeChallenge: codeChallenge, jkt: installThumbprint)
        case .enrolment(let kid):
            if let kid {
                guard let key = deviceKey(kid) else {
                    throw .invalid(field: "kid", rule: "a key of an enrolment of this device", value: kid)
                }
                subject = key.publicKey
            } else {
                subject = installKey.publicKey
            }
            data = .enrolment(challenge: order.challenge, kid: kid ?? installThumbprint)
        }
        let request = EvidenceRequest(
            format: order.format, clientData: data, issuer: Self.alone, staleChallenge: order.staleChallenge)
        let made = try evidence(request, subject: subject, settings: order.settings)
        let published = try world.roots.roots(of: world.store).published
        let root: String? =
            switch order.format {
            case .appAttest, .appAttestAssertion: published.appleFingerprint
            case .androidKey: published.androidFingerprint
            case .playIntegrity, .playIntegrityClassic: nil
            }
        return MadeEvidence(
            evidence: made.evidence, counter: order.format == .appAttestAssertion ? made.counter : nil,
            rootFingerprint: root)
    }

    /// Asks the platform for evidence; what the install remembers of it is stored before it is given.
    ///
    /// `subject` is the key the request is about, for `android-key`. An install gets its App Attest key when it first
    /// needs one.
    func evidence(
        _ request: EvidenceRequest, subject: P256.PublicKey?, settings: AttestationSettings
    ) throws(EngineError) -> (evidence: Evidence, counter: UInt32) {
        let roots = try world.roots.roots(of: world.store)
        var install = try attestedInstall()
        var keys = EvidenceKeys(subject: subject)
        var newKey: StoredKey?
        if request.format.isAppAttest {
            let (stored, isNew) = try appAttestKey(of: install)
            install.appAttestKey = stored.handle
            newKey = isNew ? stored : nil
            keys.appAttest = try storing { () throws(KeyUnavailable) in try stored.privateKey() }
        }
        if settings.defect == .clonedDevice { keys.other = try keyOfAnotherInstall() }
        let evidence: Evidence
        do throws(AttestationError) {
            (evidence, install) = try Attestor(roots: roots).evidence(
                request, of: install, keys: keys, settings: settings, at: world.clock.now(), entropy: entropy)
        } catch {
            throw .attestation(error)
        }
        try save(install, with: newKey)
        return (evidence, install.counter)
    }

    /// Notes that an issuer has taken an attestation of the install's App Attest key: from now on it gets assertions.
    func markAttested(at issuer: String) throws(EngineError) {
        var install = try attestedInstall()
        install.markAttested(at: issuer)
        try save(install, with: nil)
    }

    /// Forgets that an issuer knows the install's App Attest key: the next evidence for it is an attestation.
    func forgetAttestation(at issuer: String) throws(EngineError) {
        var install = try attestedInstall()
        install.forgetAttestation(at: issuer)
        try save(install, with: nil)
    }

    /// What the install remembers of its evidence.
    func attestedInstall() throws(EngineError) -> AttestedInstall {
        let id = id
        return try storing {
            guard let body = try world.store.read({ store in try store.attestedInstall(of: id) }) else {
                return AttestedInstall()
            }
            return try AttestedInstall(stored: body)
        }
    }

    /// An App Attest key of another phone of this state directory; nil where there is none.
    private func keyOfAnotherInstall() throws(EngineError) -> P256.PrivateKey? {
        let id = id
        return try storing {
            try world.store.read { store in try store.appAttestKey(ofOtherThan: id) }?.privateKey()
        }
    }

    private func save(_ install: AttestedInstall, with key: StoredKey?) throws(EngineError) {
        let id = id
        try storing {
            let body = try install.stored()
            try world.store.write { store in
                if let key { try store.insert(key, for: id) }
                try store.setAttestedInstall(body, of: id)
            }
        }
    }

    private func appAttestKey(of install: AttestedInstall) throws(EngineError) -> (StoredKey, isNew: Bool) {
        let id = id
        return try storing {
            if let handle = install.appAttestKey,
                let stored = try world.store.read({ store in try store.key(handle, of: id) })
            {
                return (stored, false)
            }
            return (try StoredKey.generate(.appAttest, at: now, entropy: entropy), true)
        }
    }
}
