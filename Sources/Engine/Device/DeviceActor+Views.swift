import Device
import Encoding
import SignIn

/// Somebody who waits for news of a flow.
struct Waiter {
    let number: UInt64
    let after: Int
    let untilRest: Bool
    let continuation: CheckedContinuation<FlowView?, Never>
}

/// Showing flows, and waiting for them.
extension DeviceActor {
    /// How a flow stands now.
    func view(_ flowID: FlowID) throws(EngineError) -> FlowView {
        if let flow = flows[flowID] { return view(of: flow) }
        return withSecret(try FlowArchive.view(flowID, from: world.store))
    }

    /// How a flow stands that this actor drives; nil for one that rests in the store.
    func heldView(_ flowID: FlowID) -> FlowView? { flows[flowID].map { view(of: $0) } }

    func view(of flow: LiveFlow) -> FlowView {
        var view = FlowView(
            id: flow.id, device: id, system: flow.machine.system, config: flow.machine.config,
            state: flow.machine.state, waitsForScan: flow.waitsForScan, steps: flow.steps,
            session: storedSession(after: flow.machine.state))
        view.isDriven = true
        return withSecret(view)
    }

    /// The session a flow has just stored; the store is asked only once the flow has signed in.
    private func storedSession(after state: SignInState) -> TokenSession? {
        guard case .signedIn = state else { return nil }
        return try? storedSession()
    }

    /// Waits until a flow has steps beyond `after` or rests, but not longer than `seconds`.
    ///
    /// With `untilRest` single steps are not reported, only the rest. Of a flow that nobody goes on with there is no news.
    func view(
        _ flowID: FlowID, after: Int, waiting seconds: Double, untilRest: Bool
    ) async throws(EngineError) -> FlowView {
        let present = try view(flowID)
        guard seconds > 0, !present.rests, present.isDriven, untilRest || present.steps.count <= after else {
            return present
        }
        lastWaiter += 1
        let number = lastWaiter
        let timeout = Task {
            try await Task.sleep(for: .seconds(seconds))
            self.expire(number, of: flowID)
        }
        defer { timeout.cancel() }
        let news = await withCheckedContinuation { continuation in
            waiters[flowID, default: []].append(
                Waiter(number: number, after: after, untilRest: untilRest, continuation: continuation))
        }
        return if let news { news } else { try view(flowID) }
    }

    /// Shows the feed the steps it has not seen.
    func publish(_ flow: inout LiveFlow) {
        world.journal.publish(
            flow.steps[flow.publishedSteps...], first: flow.publishedSteps + 1, device: id, flow: flow.id,
            at: world.clock.now())
        flow.publishedSteps = flow.steps.count
    }

    /// Tells the waiters of a flow what they wait for.
    func wake(_ flowID: FlowID) {
        guard let waiting = waiters[flowID], let flow = flows[flowID] else { return }
        let rests = flow.machine.state.isTerminal || flow.machine.state.isParked
        let (due, later) = waiting.divided { rests || (!$0.untilRest && flow.steps.count > $0.after) }
        waiters[flowID] = later.isEmpty ? nil : later
        guard !due.isEmpty else { return }
        let view = view(of: flow)
        for waiter in due { waiter.continuation.resume(returning: view) }
    }

    private func expire(_ number: UInt64, of flowID: FlowID) {
        guard let index = waiters[flowID]?.firstIndex(where: { $0.number == number }) else { return }
        waiters[flowID]?.remove(at: index).continuation.resume(returning: nil)
    }
}

extension Array {
    /// The elements a test holds for, and the others, both in order.
    fileprivate func divided(by test: (Element) -> Bool) -> ([Element], [Element]) {
        (filter(test), filter { !test($0) })
    }
}
