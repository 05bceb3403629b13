import Device
import Encoding
import HTTP
import OAuth
import SignIn
import Transport

/// Performing the effects of a sign-in by way of a browser: pages, the place to come back to, and the wait for it.
extension DeviceActor {
    /// How long a person's browser is waited for, in seconds.
    static let browserSeconds: Int64 = 600

    func perform(_ action: AuthorizationCodeSignIn.Action, _ effect: EffectID, in flow: inout LiveFlow) -> Performed {
        switch action {
        case .discover(let issuer): return discover(issuer, effect, in: &flow)
        case .listen(let redirectURI): return .outgoing(.listen(redirectURI: redirectURI))
        case .awaitBrowser: return .outgoing(.awaitBrowser)
        case .visit(let url, let page, let attempt): return .outgoing(.visit(url: url, page: page, attempt: attempt))
        case .call(let call): return .outgoing(.call(call))
        case .commit(let session): return .answered(commit(session, effect: effect, in: &flow))
        case .done:
            listeners.removeValue(forKey: flow.id)?.close()
            return .awaited
        }
    }

    /// Asks for a page, as a browser would; a fault may take its place as with any call.
    func launchVisit(_ url: String, page: Int, attempt: Int, effect: EffectID, flow flowID: FlowID) {
        guard let address = try? HTTPURL(url) else {
            return deliver(.lost(effect, detail: "the address is no URL"), to: flowID)
        }
        let request = ClientRequest(
            url: address, method: "GET", fields: HTTPFields([("Accept", "text/html,application/json")]), body: [],
            timeoutMilliseconds: world.callTimeout)
        let fault = takeFault(at: .call(.authorize), attempt: attempt, flow: flowID)
        if case .crash(let relaunch)? = fault?.kind { return crash(relaunching: relaunch) }
        let (network, clock) = (network, world.clock)
        track(
            effect, flow: flowID,
            Task {
                let start = clock.elapsed
                let result = await network.exchange(request, fault: fault?.kind, by: clock)
                // The first address holds what this phone asks; the query of a later one is the server's own.
                let step = CallStep(
                    call: Call.Purpose.authorize.rawValue, attempt: attempt, method: "GET",
                    url: page == 1 ? address.text : address.description, outcome: CallStep.Outcome(result),
                    proofs: [], milliseconds: (clock.elapsed - start) / .milliseconds(1))
                self.finish(effect, flow: flowID, steps: [.call(step)]) {
                    switch result {
                    case .success(let response):
                        .oauth(
                            .visited(effect, CallResponse(response), location: response.fields["Location"]))
                    case .failure(let error): .lost(effect, detail: error.description)
                    }
                }
            })
    }

    /// Listens at a redirect URI until the flow is done.
    func launchListener(at redirectURI: String, effect: EffectID, flow flowID: FlowID) {
        track(
            effect, flow: flowID,
            Task {
                do throws(RedirectListenerError) {
                    let listener = try await RedirectListener.open(redirectURI)
                    self.opened(listener, effect: effect, flow: flowID)
                } catch {
                    self.finish(effect, flow: flowID, steps: []) { .oauth(.browserFailed(effect, detail: error.why)) }
                }
            })
    }

    private func opened(_ listener: RedirectListener, effect: EffectID, flow flowID: FlowID) {
        // A flow that was cancelled meanwhile needs no place to come back to.
        if flows[flowID].map({ $0.machine.state.isTerminal }) ?? true {
            listener.close()
        } else {
            listeners[flowID] = listener
        }
        finish(effect, flow: flowID, steps: []) {
            .oauth(.listening(effect, redirectURI: listener.redirectURI.text))
        }
    }

    /// Waits for a person's browser; a person who takes too long gave up.
    func launchBrowser(effect: EffectID, flow flowID: FlowID) {
        let (listener, world) = (listeners[flowID], world)
        track(
            effect, flow: flowID,
            Task {
                let patience = Task {
                    try await world.wait(forSomebody: Self.browserSeconds * 1000)
                    listener?.close()
                }
                let address = await listener?.address()
                patience.cancel()
                self.finish(effect, flow: flowID, steps: []) {
                    guard let address else {
                        return .oauth(.browserFailed(effect, detail: "nobody came within \(Self.browserSeconds) s"))
                    }
                    return .oauth(.redirected(effect, address: address))
                }
                if (try? await patience.value) != nil { world.underWay.end() }
            })
    }
}
