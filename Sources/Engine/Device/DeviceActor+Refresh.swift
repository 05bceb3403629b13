import Crypto
import Device
import Encoding
import HTTP
import SignIn
import Store
import Transport

/// A refresh under way, and the access token it replaces.
struct Refreshing {
    let accessToken: String
    let task: Task<Result<APICall.Refreshed, EngineError>, Never>
}

/// Renewing the session: one refresh at a time for an install, in this process and in every other on the same state
/// directory.
///
/// Source: SenseCrypt description, "Session length and refresh".
extension DeviceActor {
    /// Renews the stored session because somebody finds its access token wanting, and returns it.
    ///
    /// Throws `.noSession`, `.refresh`, or `.storage`.
    func renewSession(faults: FaultPlan) async throws(EngineError) -> (session: TokenSession, now: Instant) {
        guard let stored = try storedSession() else { throw .noSession(id.rawValue) }
        switch try await refresh(stored, faults: faults) {
        case .session(let session): return (session, now)
        case .noSession: throw .noSession(id.rawValue)
        case .failed(let error): throw .refresh(error)
        }
    }

    /// Replaces a session's access token, or shares the refresh that does so already.
    ///
    /// A caller that stops waiting stops nobody else's refresh.
    func refresh(
        _ session: TokenSession, faults: FaultPlan = FaultPlan()
    ) async throws(EngineError) -> APICall.Refreshed {
        while let underWay = refreshing {
            let result = await underWay.task.value
            if underWay.accessToken == session.accessToken { return try result.get() }
        }
        let task = Task { await self.refreshAlone(session, faults) }
        refreshing = Refreshing(accessToken: session.accessToken, task: task)
        return try await task.value.get()
    }

    private func refreshAlone(
        _ session: TokenSession, _ faults: FaultPlan
    ) async -> Result<APICall.Refreshed, EngineError> {
        world.underWay.begin()
        defer {
            refreshing = nil
            world.underWay.end()
        }
        do throws(EngineError) {
            guard let lease = try await lease() else {
                return .success(.failed(.network(message: "another process is still renewing this session")))
            }
            defer { lease.release() }
            return .success(try await refreshUnderLease(session, faults))
        } catch {
            return .failure(error)
        }
    }

    /// Waits for its turn among the processes of the state directory; nil where it does not come.
    ///
    /// The holder is at most two calls and some storing away from giving the lease back, or it is stopped.
    private func lease() async throws(EngineError) -> RefreshLease? {
        let end = world.clock.elapsed + .milliseconds(2 * world.callTimeout + 1000)
        var pause = Duration.milliseconds(1)
        while true {
            if let lease = try storing({ try world.store.refreshLease(for: id) }) { return lease }
            guard world.clock.elapsed < end, (try? await Task.sleep(for: pause)) != nil else { return nil }
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    /// Looks again at what is stored before anything is sent: somebody may have renewed it, or signed out or in.
    private func refreshUnderLease(
        _ session: TokenSession, _ faults: FaultPlan
    ) async throws(EngineError) -> APICall.Refreshed {
        guard let stored = try storedSession() else { return .noSession }
        if stored.accessToken != session.accessToken, !stored.isExpired(at: now) { return .session(stored) }
        guard let machine = SessionRefresh(of: stored, installThumbprint: installThumbprint) else {
            return .failed(.signInRequired(message: "the session has no refresh token and ends with its access token"))
        }
        let outcome = await perform(machine, faults)
        saveNonces()
        switch outcome {
        case .renewed(let renewed): return .session(renewed)
        case .failed(let error): return .failed(error)
        case .superseded: return try storedSession().map { .session($0) } ?? .noSession
        }
    }
}

/// Performing a refresh's effects.
extension DeviceActor {
    private func perform(_ refresh: SessionRefresh, _ faults: FaultPlan) async -> RefreshOutcome {
        var machine = refresh
        let authenticator = authenticator(of: refresh.session)
        var journal = RefreshJournal(faults: faults, flow: FlowID(rawValue: "r-" + entropy.token(16)))
        let owner = WrongOwner(
            issuer: refresh.session.issuer, clientID: refresh.session.clientID,
            refreshToken: refresh.session.refreshToken)
        var events: [RefreshEvent] = [.start]
        while !events.isEmpty {
            for effect in machine.handle(events.removeFirst(), at: now) {
                switch effect.action {
                case .call(let call):
                    events.append(await send(call, by: authenticator, effect: effect.id, owner: owner, &journal))
                    if journal.hasCrashed {
                        return .failed(.network(message: EngineError.processEnded(id.rawValue).description))
                    }
                case .replace(let successor): events.append(replace(machine.session, with: successor, effect.id))
                case .end: events.append(end(machine.session, effect.id))
                case .revoke(let call): sendBestEffort(call, by: authenticator)
                case .finish(let outcome): return outcome
                }
            }
        }
        preconditionFailure("a refresh waits for an effect until it is finished")
    }

    private func send(
        _ call: Call, by authenticator: Authenticator?, effect: EffectID, owner: WrongOwner,
        _ journal: inout RefreshJournal, repeated: Bool = false, isFresh: Bool = false
    ) async -> RefreshEvent {
        let asked = world.clock.elapsed
        let authentication: ClientAuthentication?
        do throws(ClientAssertionError) {
            authentication = try await authenticator.authentication(isFresh: isFresh)
        } catch {
            note(.call(CallStep(unsent: call, because: error, spent: world.clock.elapsed - asked)), &journal)
            return .lost(effect, detail: error.description)
        }
        let fault = takeFault(at: .call(call.purpose), attempt: call.attempt, from: &journal.faults)
        if let fault { note(.fault(name: fault.name, at: .call(call.purpose), id: fault.id), &journal) }
        if case .crash(let relaunch)? = fault?.kind {
            journal.hasCrashed = true
            crash(relaunching: relaunch)
            return .lost(effect, detail: "the process ended")
        }
        guard fault?.kind != .keyRefused,
            let sent = try? request(for: call, authenticatedBy: authentication, nonce: NonceChoice(fault))
        else { return .keyUnavailable(effect) }
        let outbound: Outbound
        do throws(WrongUnavailable) {
            outbound = try self.outbound(sent, for: call, fault: fault, of: owner)
        } catch {
            note(.call(CallStep(unsent: call, because: error)), &journal)
            return .lost(effect, detail: error.description)
        }
        if let ahead = outbound.ahead { _ = await exchange(ahead, of: call, fault: nil, &journal) }
        let result = await exchange(outbound.sent, of: call, fault: fault?.kind, &journal)
        if !repeated, case .success(let response) = result {
            let asked = Self.repetition(asked: response, of: sent.attestation)
            if asked.isWanted {
                return await send(
                    call, by: authenticator, effect: effect, owner: owner, &journal, repeated: true,
                    isFresh: asked.isFresh)
            }
        }
        switch result {
        case .success(let response): return .responded(effect, CallResponse(response))
        case .failure(let error): return .lost(effect, detail: error.description)
        }
    }

    private func exchange(
        _ sent: SentCall, of call: Call, fault: PlannedFault.Kind?, _ journal: inout RefreshJournal
    ) async -> Result<HTTPResponse, EngineError> {
        let start = world.clock.elapsed
        let result = await network.exchange(sent.request, fault: fault, by: world.clock)
        note(.call(record(result, of: call, sent: sent, spent: world.clock.elapsed - start)), &journal)
        return result
    }

    private func note(_ step: Step, _ journal: inout RefreshJournal) {
        journal.steps += 1
        world.journal.publish([step], first: journal.steps, device: id, flow: journal.flow, at: world.clock.now())
    }

    /// The new pair of tokens takes the place of the old one whole, and only where the old one is still there.
    private func replace(_ session: TokenSession, with successor: TokenSession, _ effect: EffectID) -> RefreshEvent {
        let id = id
        let isStored = try? world.store.write { try $0.renewSession(of: id, from: session, to: successor) }
        if isStored == true, let spent = session.refreshToken, let new = successor.refreshToken, new != spent {
            spentRefreshToken = (spent, new)
        }
        return event(effect, for: isStored)
    }

    private func end(_ session: TokenSession, _ effect: EffectID) -> RefreshEvent {
        let id = id
        return event(effect, for: try? world.store.write { try $0.endSession(of: id, session) })
    }

    private func event(_ effect: EffectID, for isWritten: Bool?) -> RefreshEvent {
        switch isWritten {
        case true?: .stored(effect)
        case false?: .superseded(effect)
        case nil: .notStored(effect)
        }
    }
}

/// What is shown of a refresh as it goes, and broken on purpose.
private struct RefreshJournal {
    var faults: FaultPlan
    /// The name its steps go by in the feed.
    let flow: FlowID
    var steps = 0
    /// The process ended at a call of it, by a planned fault.
    var hasCrashed = false
}
