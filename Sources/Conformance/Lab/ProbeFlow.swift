import Crypto
import Device
import Encoding
import Engine
import HTTP
import JOSE
import OAuth
import Profiles
import SignIn
import Transport

/// The phone's own machine of a sign-in, held before any of its calls so that a probe can send something else there.
///
/// What the machine asks for is done here as plainly as can be; the phone itself does the same with a store, a journal
/// and faults.
final class ProbeFlow {
    private let lab: Lab
    private let phone: ProbePhone
    private var machine: SenseCryptSignIn
    private var due: [Effect] = []
    private var held: (id: EffectID, call: Call)?
    /// Whether each scan shows the right face; behind the end every one does.
    private var scans: [Bool]
    private var opened: FaceTokenContents?
    private var generation: UInt32 = 1
    private var lastSummary = "nothing was sent"
    private(set) var tokens: Tokens?
    /// The calls made so far that were answered as they should be, newest last.
    private(set) var calls: [Call.Purpose: Call] = [:]

    /// A sign-in that has not started.
    init(
        _ lab: Lab, by phone: ProbePhone? = nil, clientID: String? = nil, resource: Bool = true, scans: [Bool] = [],
        vouches: Bool = true
    ) {
        self.lab = lab
        self.phone = phone ?? lab.phone
        self.scans = scans
        let scopes = ["openid", "offline_access"]
        machine = SenseCryptSignIn(
            config: SignInConfig(
                issuer: lab.issuer, clientID: clientID ?? lab.setup.clientID, resource: resource ? lab.resource : nil,
                scopes: scopes, allowPlainHTTPOnLoopback: true, wire: SignInWire(lab.setup.profile)))
        let secrets = FlowSecrets(codeVerifier: lab.setup.entropy.token(32), nonce: lab.setup.entropy.token(16))
        let attestation = vouches ? lab.attestationFacts : DeviceFacts.Attestation(sending: .never)
        due = machine.handle(
            .start(self.phone.facts(at: lab.issuer, attestation: attestation), secrets), at: lab.now)
    }

    /// Does everything up to a call, which is not sent.
    @discardableResult
    func advance(to purpose: Call.Purpose) async throws(ProbeFault) -> Call {
        while true {
            if let held {
                if held.call.purpose == purpose { return held.call }
                try await send(held.call)
            } else if let effect = due.first {
                due.removeFirst()
                try perform(effect)
            } else {
                throw .broken("a plain sign-in ends in \(ending), after \(lastSummary)")
            }
        }
    }

    /// How the sign-in ended, in words.
    private var ending: String {
        if case .failed(let failure) = machine.state {
            "\(failure.reason): \(failure.message)"
        } else {
            machine.state.name
        }
    }

    /// Sends the call that is held, rightly, and goes on.
    func send(_ call: Call) async throws(ProbeFault) {
        let answer = try await lab.fire(try lab.request(call, by: phone))
        accept(answer)
    }

    /// Goes on with an answer to the call that is held.
    func accept(_ answer: Answer) {
        guard let (id, call) = held else { return }
        held = nil
        lastSummary = "\(call.purpose.rawValue) was answered \(answer.summary)"
        if answer.isAccepted { calls[call.purpose] = call }
        lab.learn(from: answer, to: call, by: phone)
        if call.purpose == .token, answer.status == 200, let access = answer.json?["access_token"]?.string {
            tokens = Tokens(
                access: access, refresh: answer.json?["refresh_token"]?.string,
                idToken: answer.json?["id_token"] != nil)
        }
        due += machine.handle(.responded(id, answer.call), at: lab.now)
    }

    /// Signs in to the end.
    ///
    /// The machine gives up by itself where the server does not let it in.
    func finish() async throws(ProbeFault) -> Tokens {
        while true {
            if let tokens { return tokens }
            try await send(try await advance(to: .token))
        }
    }

    private func perform(_ effect: Effect) throws(ProbeFault) {
        switch effect.action {
        case .discover: answer(.discovered(effect.id, lab.metadata))
        case .call(let call): held = (effect.id, call)
        case .signCeremony(let claims, let key): answer(.ceremonySigned(effect.id, jws: try sign(claims, key)))
        case .capture:
            let isOwn = scans.isEmpty ? true : scans.removeFirst()
            answer(.captured(effect.id, .live(SampleID(rawValue: isOwn ? "own" : "stranger"))))
        case .openFaceToken(let sealed, let sample): answer(open(sealed, sample, effect.id))
        case .rotateFaceToken(let generation, let classes):
            answer(.faceTokenRotated(effect.id, sealed: try reseal(generation, classes)))
        case .commit: answer(.committed(effect.id))
        case .attest(let binding): answer(vouch(binding, effect.id))
        case .runPKI, .done: break
        }
    }

    private func answer(_ event: Event) { due += machine.handle(event, at: lab.now) }

    /// Makes the evidence of one start; whether the server can do without is for the server to say.
    private func vouch(_ binding: StartBinding, _ effect: EffectID) -> Event {
        let data = ClientData.start(
            challenge: binding.challenge, clientID: binding.clientID, codeChallenge: binding.codeChallenge,
            jkt: binding.installThumbprint)
        let wish = EvidenceWish(data: data, subject: phone.installKey.publicKey, install: phone.jkt)
        do throws(ProbeFault) {
            return .attested(effect, evidence: try lab.evidence(wish).formValue)
        } catch {
            return .attestationUnavailable(effect, rule: error.description)
        }
    }

    private func sign(_ claims: CeremonyClaims, _ key: CeremonyKey) throws(ProbeFault) -> String {
        guard case .enrolment = key else { throw .own("the phone has no key for the issuer") }
        let ceremony = CeremonyJWS(claims: claims, issuedAt: lab.now.seconds, jti: lab.setup.entropy.token(16))
        let input = ceremony.signingInput(key: phone.deviceKey.publicKey, names: lab.setup.profile.ceremony)
        let signature = try lab.own("a ceremony") {
            try phone.deviceKey.sign(Array(input.utf8), nonce: lab.setup.entropy.signingNonce)
        }
        return CeremonyJWS.assemble(signingInput: input, signature: signature)
    }

    private func open(_ sealed: [UInt8], _ sample: SampleID, _ effect: EffectID) -> Event {
        let face = sample.rawValue == "own" ? phone.face : Face.stranger(for: phone.face)
        do throws(FaceTokenError) {
            opened = try FaceToken.open(sealed, face: face, binding: FaceTokenBinding(issuer: lab.issuer))
            return .faceTokenOpened(effect)
        } catch .wrongFace {
            return .faceTokenNotOpened(effect)
        } catch {
            return .faceTokenUnusable(effect, rule: error.description)
        }
    }

    private func reseal(_ generation: UInt32, _ classes: [FacePKIClass]) throws(ProbeFault) -> [UInt8] {
        guard var contents = opened else { throw .own("the face token is not open") }
        contents.addMissingSeeds(of: classes, from: lab.setup.entropy)
        opened = contents
        self.generation = generation
        return try anotherSeal()
    }

    /// The contents of the face token sealed once more, as the generation they were sealed as before.
    func anotherSeal() throws(ProbeFault) -> [UInt8] {
        guard let contents = opened else { throw .own("the face token is not open") }
        return try lab.own("a face token") {
            try FaceToken.seal(
                contents, face: phone.face, generation: generation, binding: FaceTokenBinding(issuer: lab.issuer),
                entropy: lab.setup.entropy)
        }
    }
}
