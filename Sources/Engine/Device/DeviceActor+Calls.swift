import Crypto
import Device
import Encoding
import HTTP
import JOSE
import OAuth
import Profiles
import SignIn
import Store
import Transport

/// Sending a flow's calls: proofs minted at the last moment, faults at one gate, answers journalled.
extension DeviceActor {
    func launch(_ outgoing: Outgoing, effect: EffectID, flow flowID: FlowID) {
        switch outgoing {
        case .discovery(let issuer, let fault):
            launchDiscovery(of: issuer, fault: fault, effect: effect, flow: flowID)
        case .call(let call): launchCall(call, effect: effect, flow: flowID)
        case .visit(let url, let page, let attempt):
            launchVisit(url, page: page, attempt: attempt, effect: effect, flow: flowID)
        case .listen(let redirectURI): launchListener(at: redirectURI, effect: effect, flow: flowID)
        case .awaitBrowser: launchBrowser(effect: effect, flow: flowID)
        }
    }

    private func launchDiscovery(of issuer: String, fault: PlannedFault?, effect: EffectID, flow flowID: FlowID) {
        let (world, metadata) = (world.reaching(network), metadataCache)
        track(
            effect, flow: flowID,
            Task {
                let answer = await metadata.discover(issuer, world: world, fault: fault?.kind)
                self.finish(effect, flow: flowID, steps: answer.steps.map { .call($0) }) {
                    switch answer.result {
                    case .found(let metadata): .discovered(effect, metadata)
                    case .failed(let failure): .discoveryFailed(effect, failure)
                    }
                }
            })
    }

    /// Sends a call, once there is an assertion for this attempt where the client needs one.
    ///
    /// `repeated` says that it was sent before, and refused for its attestation; `isFresh` that a new one is wanted.
    private func launchCall(
        _ call: Call, effect: EffectID, flow flowID: FlowID, repeated: Bool = false, isFresh: Bool = false
    ) {
        guard let authenticator = authenticator(of: call, in: flowID) else {
            return send(call, authenticatedBy: nil, effect: effect, flow: flowID)
        }
        let underWay = world.underWay
        underWay.begin()
        track(
            effect, flow: flowID,
            Task {
                defer { underWay.end() }
                let start = world.clock.elapsed
                do throws(ClientAssertionError) {
                    let authentication = try await authenticator.authentication(isFresh: isFresh)
                    guard !Task.isCancelled else { return }
                    self.send(
                        call, authenticatedBy: authentication, effect: effect, flow: flowID, repeated: repeated)
                } catch {
                    let step = CallStep(unsent: call, because: error, spent: self.world.clock.elapsed - start)
                    self.finish(effect, flow: flowID, steps: [.call(step)]) {
                        .lost(effect, detail: error.description)
                    }
                }
            })
    }

    private func send(
        _ call: Call, authenticatedBy authentication: ClientAuthentication?, effect: EffectID, flow flowID: FlowID,
        repeated: Bool = false
    ) {
        let fault = takeFault(at: .call(call.purpose), attempt: call.attempt, flow: flowID)
        if case .crash(let relaunch)? = fault?.kind { return crash(relaunching: relaunch) }
        let sent: SentCall
        do {
            guard fault?.kind != .keyRefused else { throw EngineError.storage("the key refuses to sign") }
            sent = try request(
                for: call, authenticatedBy: authentication, flow: flowID, nonce: NonceChoice(fault))
        } catch {
            exchanges[flowID]?[effect] = nil
            return deliver(.keyUnavailable(effect), to: flowID)
        }
        let outbound: Outbound
        do throws(WrongUnavailable) {
            outbound = try self.outbound(sent, for: call, fault: fault, of: owner(of: flowID))
        } catch {
            return finish(effect, flow: flowID, steps: [.call(CallStep(unsent: call, because: error))]) {
                .lost(effect, detail: error.description)
            }
        }
        let network = network
        let underWay = world.underWay
        underWay.begin()
        track(
            effect, flow: flowID,
            Task {
                defer { underWay.end() }
                if let ahead = outbound.ahead { await self.sendAhead(ahead, of: call, flow: flowID) }
                let start = world.clock.elapsed
                let result = await network.exchange(
                    outbound.sent.request, fault: fault?.kind, by: self.world.clock)
                let spent = self.world.clock.elapsed - start
                self.receive(
                    result, of: call, sent: outbound.sent, spent: spent, effect: effect, flow: flowID,
                    repeated: repeated)
            })
    }

    private func sendAhead(_ sent: SentCall, of call: Call, flow flowID: FlowID) async {
        let start = world.clock.elapsed
        let result = await network.exchange(sent.request, fault: nil, by: world.clock)
        flows[flowID]?.note(.call(record(result, of: call, sent: sent, spent: world.clock.elapsed - start)))
    }

    private func request(
        for call: Call, authenticatedBy authentication: ClientAuthentication?, flow flowID: FlowID,
        nonce: NonceChoice
    ) throws -> SentCall {
        var sent = try request(for: call, authenticatedBy: authentication, nonce: nonce)
        if let (name, jws) = call.ceremonyProof(world.profile.members),
            let signer = flows[flowID]?.ceremonySigner ?? Self.signer(ofStored: jws)
        {
            sent.proofs.append(
                SentProof(place: .body(name), signer: signer.signer, thumbprint: signer.thumbprint, jws: jws))
        }
        return sent
    }

    /// Who signed the proof of a flow that was taken up from the store: a proof is kept only where an enrolled key made it.
    private static func signer(ofStored jws: String) -> (signer: SentProof.Signer, thumbprint: String)? {
        (try? JWS(compact: jws))?.keyID.map { (.deviceKey, $0) }
    }

    /// One attempt at a call, of a flow or of a session: with a DPoP proof made now, where it needs one.
    ///
    /// Throws where the install key cannot sign, or the URL is none.
    /// `source` is what the proof's `jti` is drawn from, where that is not the device's own.
    func request(
        for call: Call, authenticatedBy authentication: ClientAuthentication?, drawingFrom source: Entropy? = nil,
        nonce: NonceChoice = .newest
    ) throws -> SentCall {
        let url = try HTTPURL(call.url)
        var fields = HTTPFields([("Accept", "application/json"), ("Content-Type", call.body.mediaType)])
        var proofs: [SentProof] = []
        if call.needsDPoP || authentication?.needsDPoP == true {
            guard !installKeyInvalidated else { throw EngineError.storage("the install key is invalidated") }
            let proof = try mintProof(
                method: "POST", url: url, role: .authorizationServer, drawingFrom: source, nonce: nonce)
            fields.append("DPoP", proof)
            proofs.append(
                SentProof(place: .header("DPoP"), signer: .installKey, thumbprint: installThumbprint, jws: proof))
        }
        for field in authentication?.fields ?? [] { fields.append(field.name, field.value) }
        let request = ClientRequest(
            url: url, method: "POST", fields: fields, body: call.body.bytes(authenticatedBy: authentication),
            timeoutMilliseconds: world.callTimeout)
        let isAttested = authentication?.client != nil
        return SentCall(
            request: request, proofs: proofs, clientAssertionBy: isAttested ? nil : authentication?.kind,
            attestation: isAttested ? authentication : nil)
    }

    private func receive(
        _ result: Result<HTTPResponse, EngineError>, of call: Call,
        sent: SentCall, spent: Duration, effect: EffectID, flow flowID: FlowID, repeated: Bool
    ) {
        let step = record(result, of: call, sent: sent, spent: spent)
        noteCode(result, of: call, flow: flowID)
        if call.purpose == .start, case .success(let response) = result, let flow = flows[flowID] {
            learn(from: response, to: flow.sentEvidence, issuer: flow.machine.config.issuer)
        }
        // Beside evidence about the app, the flow begins anew with evidence and proof for the new challenge.
        let isBesideEvidence = call.purpose == .start && flows[flowID]?.sentEvidence != nil
        var isForClient = false
        if case .success(let response) = result {
            let asked = Self.repetition(asked: response, of: sent.attestation)
            if asked.isWanted, !repeated, asked.isFresh || !isBesideEvidence {
                flows[flowID]?.note(.call(step))
                return launchCall(call, effect: effect, flow: flowID, repeated: true, isFresh: asked.isFresh)
            }
            isForClient = asked.isWanted && !isBesideEvidence
        }
        finish(effect, flow: flowID, steps: [.call(step)]) {
            switch result {
            case .success(let response): .responded(effect, CallResponse(response, challenges: !isForClient))
            case .failure(let error): .lost(effect, detail: error.description)
            }
        }
    }

    /// Keeps the nonce an answer brought, and describes the exchange for the journal.
    func record(
        _ result: Result<HTTPResponse, EngineError>, of call: Call,
        sent: SentCall, spent: Duration
    ) -> CallStep {
        if case .success(let response) = result {
            let isChallengeEndpoint = call.purpose == .attestationChallenge
            recordChallenge(of: response, from: sent.request.url, isChallengeEndpoint: isChallengeEndpoint)
        }
        if case .success(let response) = result,
            let nonce = DPoPNonceField.nonce(response.fields.values("DPoP-Nonce"))
        {
            nonces.record(nonce, .authorizationServer, sent.request.url.origin)
        }
        var step = CallStep(
            call: call.purpose.rawValue, attempt: call.attempt, method: sent.request.method,
            url: sent.request.url.text, outcome: CallStep.Outcome(result), proofs: sent.proofs,
            milliseconds: spent / .milliseconds(1), clientAssertionBy: sent.clientAssertionBy,
            clientAttestation: sent.attestation?.client.map { ClientAttestationStep(of: $0) })
        if case .success(let response) = result {
            step.times = response.fields["Date"].flatMap(HTTPDate.instant).map { (now, $0) }
            step.finding = response.fields["Understudy-Finding"].flatMap { Int64($0) }
        }
        return step
    }

    func track(_ effect: EffectID, flow flowID: FlowID, _ task: Task<Void, Never>) {
        exchanges[flowID, default: [:]][effect] = task
    }

    /// Hands over what an effect came to.
    ///
    /// What a process that ended was waiting for comes too late: its successor may have an effect of the same number.
    func finish(_ effect: EffectID, flow flowID: FlowID, steps: [Step], event: () -> FlowEvent) {
        guard !Task.isCancelled else { return }
        exchanges[flowID]?[effect] = nil
        for step in steps { flows[flowID]?.note(step) }
        deliver(event(), to: flowID)
        settle(flowID)
    }
}

extension CallStep.Outcome {
    /// Reads an OAuth error out of a refusal, for people to see.
    init(_ result: Result<HTTPResponse, EngineError>) {
        switch result {
        case .failure(.unreachable(_, let why)): self = .lost(why)
        case .failure(let error): self = .lost(error.description)
        case .success(let response):
            let body = response.status >= 400 ? try? JSON(parsing: response.body) : nil
            self = .answered(
                status: response.status, error: body?["error"]?.string,
                description: body?["error_description"]?.string)
        }
    }
}

extension CallResponse {
    /// What a machine needs to know of a response; `challenges` is false where a challenge in it was meant for the client's
    /// own attestation, and was answered in vain.
    init(_ response: HTTPResponse, challenges: Bool = true) {
        self.init(
            status: response.status, mediaType: response.fields["Content-Type"],
            retryAfter: response.fields["Retry-After"], dpopNonce: response.fields["DPoP-Nonce"],
            attestationChallenge: challenges
                ? AttestationChallenge.challenge(response.fields.values(AttestationChallenge.field)) : nil,
            body: response.body)
    }
}

extension Call {
    /// The signed ceremony this call carries, and the name it goes by.
    fileprivate func ceremonyProof(_ names: SenseCryptProfile.Members) -> (name: String, jws: String)? {
        let (form, request) = (names.challengeForm.ceremonyProof, names.ceremonyRequest.request)
        return switch body {
        case .form(let fields): fields[form].map { (form, $0) }
        case .json(let json): json[request]?.string.map { (request, $0) }
        }
    }
}
