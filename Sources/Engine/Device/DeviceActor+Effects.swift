import Crypto
import Device
import Encoding
import HTTP
import JOSE
import Profiles
import SignIn
import Store

/// What became of an effect at once.
enum Performed {
    /// It is done and this is the answer.
    case answered(FlowEvent)
    /// It goes out to the network once the flow is stored.
    case outgoing(Outgoing)
    /// It is done and has no answer, or the answer comes later.
    case awaited
    /// The process ends before it is done.
    case crashed(relaunching: Bool)
}

/// What leaves the program for a flow.
enum Outgoing {
    case discovery(issuer: String, fault: PlannedFault?)
    case call(Call)
    /// A page of a browser's way.
    case visit(url: String, page: Int, attempt: Int)
    /// A place for a browser to come back to.
    case listen(redirectURI: String)
    /// A person's browser, which is out.
    case awaitBrowser

    /// Whether this is the completion, whose exact proof must be found again after a kill.
    var isCompletion: Bool {
        if case .call(let call) = self { call.purpose == .completion } else { false }
    }
}

/// Performing the effects that need no network: keys, camera, face, keychain.
extension DeviceActor {
    func perform(_ effect: FlowEffect, in flow: inout LiveFlow) -> Performed {
        switch effect.action {
        case .senseCrypt(let action): perform(action, effect.id, in: &flow)
        case .oauth(let action): perform(action, effect.id, in: &flow)
        }
    }

    /// The issuer's metadata, at once where it is known.
    func discover(_ issuer: String, _ effect: EffectID, in flow: inout LiveFlow) -> Performed {
        if let fault = takeFault(at: .discovery, in: &flow) {
            if case .crash(let relaunch) = fault.kind { return .crashed(relaunching: relaunch) }
            return .outgoing(.discovery(issuer: issuer, fault: fault))
        }
        if condition.isOffline { return .outgoing(.discovery(issuer: issuer, fault: nil)) }
        let known = metadataCache.known(issuer, at: world.clock.now())
        return known.map { .answered(.discovered(effect, $0)) } ?? .outgoing(.discovery(issuer: issuer, fault: nil))
    }

    private func perform(_ action: Action, _ effect: EffectID, in flow: inout LiveFlow) -> Performed {
        if let deed = action.deed, let fault = takeFault(at: .deed(deed), in: &flow) {
            switch fault.kind {
            case .crash(let relaunch): return .crashed(relaunching: relaunch)
            case .keyRefused, .storeFull: return .answered(.senseCrypt(.keyUnavailable(effect)))
            default: break
            }
        }
        switch action {
        case .discover(let issuer):
            return discover(issuer, effect, in: &flow)
        case .call(let call):
            return .outgoing(.call(call))
        case .attest(let binding):
            return .answered(.senseCrypt(attest(binding, effect: effect, in: &flow)))
        case .signCeremony(let claims, let key):
            return .answered(.senseCrypt(signCeremony(claims, key: key, effect: effect, in: &flow)))
        case .capture:
            return capture(effect, in: &flow)
        case .openFaceToken(let sealed, let sample):
            return .answered(.senseCrypt(open(sealed, sample: sample, effect: effect, in: &flow)))
        case .runPKI(let operation):
            return .answered(.senseCrypt(run(operation, effect: effect, in: &flow)))
        case .rotateFaceToken(let generation, let classes):
            return .answered(
                .senseCrypt(reseal(as: generation, addingSeeds: classes, effect: effect, in: &flow)))
        case .commit(let session):
            return .answered(commit(session, effect: effect, in: &flow))
        case .done:
            flow.opened = nil
            flow.samples = [:]
            return .awaited
        }
    }

    private func signCeremony(
        _ claims: CeremonyClaims, key: CeremonyKey, effect: EffectID, in flow: inout LiveFlow
    ) -> Event {
        guard let (signer, key) = ceremonyKey(key, in: &flow), !installKeyInvalidated else {
            return .keyUnavailable(effect)
        }
        let ceremony = CeremonyJWS(claims: claims, issuedAt: now.seconds, jti: entropy.token(16))
        guard
            let compact = try? sign(ceremony.signingInput(key: key.publicKey, names: world.profile.ceremony), with: key)
        else {
            return .keyUnavailable(effect)
        }
        flow.ceremonySigner = (signer, JWK.p256(key.publicKey).thumbprint)
        return .ceremonySigned(effect, jws: compact)
    }

    private func ceremonyKey(
        _ key: CeremonyKey, in flow: inout LiveFlow
    ) -> (SentProof.Signer, P256.PrivateKey)? {
        switch key {
        case .enrolment(let kid): return deviceKey(kid).map { (.deviceKey, $0) }
        case .throwaway:
            if flow.throwaway == nil { flow.throwaway = try? P256.PrivateKey.generate(entropy) }
            return flow.throwaway.map { (.throwawayKey, $0) }
        }
    }

    /// Lets the camera see the next outcome: the flow's own script first, then the camera's queue.
    private func capture(_ effect: EffectID, in flow: inout LiveFlow) -> Performed {
        // While the platform refuses, nobody stands before the camera: what is planned stays for later.
        let outcome: ScanOutcome =
            condition.isLockedOut ? .lockout : flow.script.isEmpty ? nextOfCamera() : flow.script.removeFirst()
        return see(outcome, capture: effect, in: &flow).map { .answered(.senseCrypt($0)) } ?? .awaited
    }

    private func nextOfCamera() -> ScanOutcome {
        let queued = device.camera.queue.count
        let outcome = device.camera.next()
        if device.camera.queue.count != queued { deviceChanged = true }
        return outcome
    }

    /// Turns what the camera sees into the capture's answer; nil while it hangs.
    func see(_ outcome: ScanOutcome, capture effect: EffectID, in flow: inout LiveFlow) -> Event? {
        let outcome = condition.isLockedOut ? .lockout : outcome
        flow.note(.scan(outcome))
        switch outcome {
        case .match: return .captured(effect, .live(remember(device.face, in: &flow)))
        case .mismatch: return .captured(effect, .live(remember(.stranger(for: device.face), in: &flow)))
        case .livenessFailed(let reason): return .captured(effect, .livenessFailed(reason: reason))
        case .badCapture(let fault): return .captured(effect, .badCapture(fault))
        // Without a capture there is none to give up: to the flow it is closed, and the journal says why.
        case .cancel, .lockout, .notEnrolled, .unsupported: return .captured(effect, .closed)
        case .hang:
            flow.openCapture = effect
            return nil
        }
    }

    private func remember(_ face: Face, in flow: inout LiveFlow) -> SampleID {
        let sample = SampleID(rawValue: "sample-\(flow.samples.count + 1)")
        flow.samples[sample] = face
        return sample
    }

    private func open(
        _ sealed: [UInt8], sample: SampleID, effect: EffectID, in flow: inout LiveFlow
    ) -> Event {
        let binding = FaceTokenBinding(issuer: flow.machine.config.issuer)
        guard let face = flow.samples[sample] else {
            return .faceTokenUnusable(effect, rule: "the picture of this scan is gone")
        }
        do throws(FaceTokenError) {
            flow.opened = (try FaceToken.open(sealed, face: face, binding: binding), binding)
            flow.note(.face(.opened))
            return .faceTokenOpened(effect)
        } catch .wrongFace {
            flow.note(.face(.notOpened))
            return .faceTokenNotOpened(effect)
        } catch {
            // Damage, and a token that is somebody else's, are no mismatch.
            return .faceTokenUnusable(effect, rule: error.description)
        }
    }

    private func reseal(
        as generation: UInt32, addingSeeds classes: [FacePKIClass], effect: EffectID, in flow: inout LiveFlow
    ) -> Event {
        // The contents live in memory alone; a process killed in between scans again.
        guard case (var contents, let binding)? = flow.opened else {
            return .faceTokenUnusable(effect, rule: "it is not open any more")
        }
        contents.addMissingSeeds(of: classes, from: entropy)
        do throws(FaceTokenError) {
            let sealed = try FaceToken.seal(
                contents, face: device.face, generation: generation, binding: binding, entropy: entropy)
            flow.opened = nil
            flow.note(.face(.resealed(generation: generation)))
            return .faceTokenRotated(effect, sealed: sealed)
        } catch {
            return .faceTokenUnusable(effect, rule: error.description)
        }
    }

    /// Stores the session and the flow that earned it in one transaction.
    func commit(_ session: TokenSession, effect: EffectID, in flow: inout LiveFlow) -> FlowEvent {
        do {
            var finished = flow
            _ = finished.machine.handle(.committed(effect), at: now)
            finished.note(.state(finished.machine.state))
            let previous = try store(session, earnedBy: finished)
            flow.archivedSteps = finished.steps.count
            if let previous { revoke(previous) }
            return .committed(effect)
        } catch {
            return .keyUnavailable(effect)
        }
    }
}
