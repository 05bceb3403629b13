import Crypto
import Device
import Encoding
import SignIn

/// Starting, driving and steering flows.
extension DeviceActor {
    /// Starts a sign-in and returns how it stands after everything that needs no network.
    func start(_ order: SignInOrder, id flowID: FlowID) throws(EngineError) -> FlowView {
        if let defect = order.attestationDefect, !device.platform.canHave(defect, isEnrolment: false) {
            throw .noSuchDefect(defect, on: device.platform, isEnrolment: false)
        }
        let (machine, beginning) = try machine(for: order)
        if let attestation = order.clientAttestation {
            guard order.clientAssertions == nil else {
                throw .invalid(
                    field: "client_attestation", rule: "a client authenticates by an attestation or an assertion",
                    value: "both")
            }
            try begin(attestation, flow: flowID, config: order.config)
        }
        let assertions = try order.clientAssertions.map { (source) throws(EngineError) in
            try source.provider(in: world)
        }
        world.assertions.begin(flowID, of: order.config.clientID, on: id, with: assertions)
        flows[flowID] = LiveFlow(
            id: flowID, startedAt: now, machine: machine, script: order.scans, faults: FaultPlan(order.faults))
        flows[flowID]?.attestationDefect = order.attestationDefect
        registry.hold(self, for: flowID)
        deliver(beginning, to: flowID)
        return try view(flowID)
    }

    /// A fresh machine for an order, and the event it begins with.
    private func machine(for order: SignInOrder) throws(EngineError) -> (FlowMachine, FlowEvent) {
        let (verifier, nonce) = (entropy.token(32), entropy.token(16))
        switch order.system {
        case .senseCrypt:
            let facts = DeviceFacts(
                installThumbprint: installThumbprint,
                enrolments: try storedEnrolments().map {
                    DeviceFacts.Enrolment(issuer: $0.issuer, email: $0.email, kid: $0.kid)
                },
                attestation: attestationFacts(for: order.config.issuer))
            let secrets = FlowSecrets(codeVerifier: verifier, nonce: nonce)
            var config = order.config
            config.wire = world.wire
            return (.senseCrypt(SenseCryptSignIn(config: config)), .senseCrypt(.start(facts, secrets)))
        case .oauth(let door):
            let secrets = AuthorizationCodeSignIn.Secrets(
                codeVerifier: verifier, nonce: nonce, state: entropy.token(16))
            return (
                .oauth(AuthorizationCodeSignIn(config: order.config, door: door)),
                .oauth(.start(installThumbprint: installThumbprint, secrets))
            )
        }
    }

    /// Hands one event to a flow's machine and performs what it answers with, until only the network is awaited.
    func deliver(_ event: FlowEvent, to flowID: FlowID) {
        advance(flowID) { $0.handle(event, at: $1) }
    }

    /// Takes up a flow another run of this program left behind; a lost process counts as lost replies.
    func resume(_ flowID: FlowID) throws(EngineError) {
        guard flows[flowID] == nil else { return }
        try adopt(flowID)
        advance(flowID) { $0.resume(at: $1) }
    }

    /// Moves a flow's machine and performs its effects, and those that follow from their answers.
    ///
    /// The flow is written to the store before its requests leave, so that a kill at any moment finds the
    /// exact proof that may already have been sent.
    private func advance(_ flowID: FlowID, by move: (inout FlowMachine, Instant) -> [FlowEffect]) {
        guard var flow = flows.removeValue(forKey: flowID) else { return }
        var calls: [(EffectID, Outgoing)] = []
        var answers = perform(moved(&flow, by: move), in: &flow, sending: &calls)
        while !answers.isEmpty, flow.crashing == nil {
            let answer = answers.removeFirst()
            answers += perform(moved(&flow) { $0.handle(answer, at: $1) }, in: &flow, sending: &calls)
        }
        if let relaunch = flow.crashing { return crash(with: flow, relaunching: relaunch) }
        if case .failed = flow.machine.state { world.secrets.wipe(of: flowID) }
        publish(&flow)
        archive(&flow, sending: calls.map(\.1))
        flows[flowID] = flow
        for (effect, outgoing) in calls { launch(outgoing, effect: effect, flow: flowID) }
        wake(flowID)
        settle(flowID)
    }

    private func moved(
        _ flow: inout LiveFlow, by move: (inout FlowMachine, Instant) -> [FlowEffect]
    ) -> [FlowEffect] {
        let before = flow.machine.state
        let effects = move(&flow.machine, now)
        if flow.machine.state != before { flow.note(.state(flow.machine.state)) }
        return effects
    }

    private func perform(
        _ effects: [FlowEffect], in flow: inout LiveFlow, sending calls: inout [(EffectID, Outgoing)]
    ) -> [FlowEvent] {
        var answers: [FlowEvent] = []
        for effect in effects {
            switch perform(effect, in: &flow) {
            case .answered(let answer): answers.append(answer)
            case .outgoing(let outgoing): calls.append((effect.id, outgoing))
            case .awaited: break
            case .crashed(let relaunch):
                flow.crashing = relaunch
                return answers
            }
        }
        return answers
    }

    /// Lets go of a flow that has ended or is parked and for which nothing is under way.
    ///
    /// A parked flow stays in the store, proof and all; `retry` finds it there.
    func settle(_ flowID: FlowID) {
        guard let flow = flows[flowID], exchanges[flowID, default: [:]].isEmpty else { return }
        guard flow.machine.state.isTerminal || flow.machine.state.isParked else { return }
        if flow.machine.state.isTerminal {
            world.assertions.end(flowID)
            world.attested.end(flowID)
        }
        flows[flowID] = nil
        exchanges[flowID] = nil
        registry.release(flowID)
        if flow.machine.state.isTerminal { world.ended.note(in: world.store) }
    }

    /// Sends a parked flow's proof again.
    func retry(_ flowID: FlowID) throws(EngineError) -> FlowView {
        let state = try takeUp(flowID).machine.state
        guard state.isParked else { throw .notParked(flow: flowID.rawValue, state: state.name) }
        deliver(.retry, to: flowID)
        return try view(flowID)
    }

    /// Cancels a flow that has not ended.
    func cancel(_ flowID: FlowID) throws(EngineError) -> FlowView {
        let state = try takeUp(flowID).machine.state
        guard !state.isTerminal else { throw .alreadyEnded(flow: flowID.rawValue, state: state.name) }
        deliver(.cancel, to: flowID)
        return try view(flowID)
    }

    /// Shows the waiting camera one outcome.
    func scan(_ outcome: ScanOutcome, for flowID: FlowID) throws(EngineError) -> FlowView {
        let state = try takeUp(flowID).machine.state
        guard var flow = flows[flowID], let capture = flow.openCapture, outcome != .hang else {
            throw .notWaiting(flow: flowID.rawValue, state: state.name)
        }
        flow.openCapture = nil
        let event = see(outcome, capture: capture, in: &flow)
        flows[flowID] = flow
        if let event { deliver(.senseCrypt(event), to: flowID) }
        return try view(flowID)
    }

    /// The flow from memory, or going on from where an earlier process left it.
    private func takeUp(_ flowID: FlowID) throws(EngineError) -> LiveFlow {
        if let flow = flows[flowID] { return flow }
        let flow = try adopt(flowID)
        guard !flow.machine.state.isTerminal, !flow.machine.state.isParked else { return flow }
        advance(flowID) { $0.resume(at: $1) }
        if let flow = flows[flowID] { return flow }
        return try FlowArchive.load(flowID, from: world.store)
    }

    /// The flow from memory, or from the store where it rests, put back into memory.
    @discardableResult
    func adopt(_ flowID: FlowID) throws(EngineError) -> LiveFlow {
        if let flow = flows[flowID] { return flow }
        let flow = try FlowArchive.load(flowID, from: world.store)
        guard !flow.machine.state.isTerminal else { return flow }
        flows[flowID] = flow
        registry.hold(self, for: flowID)
        return flow
    }
}
