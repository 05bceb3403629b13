public import Device
public import Encoding
public import SignIn

/// How a flow stands, for whoever asked.
public struct FlowView: Sendable {
    /// The flow's name.
    public let id: FlowID
    /// The device it runs on.
    public let device: DeviceID
    /// The system it signs in at: `sensecrypt` or `oauth`.
    public let system: String
    /// What it was asked to do.
    public let config: SignInConfig
    /// The state it is in.
    public let state: SignInState
    /// Whether its camera waits for a scan from outside.
    public let waitsForScan: Bool
    /// What happened so far, oldest first.
    public let steps: [Step]
    /// The stored session, where the flow has just signed in.
    public let session: TokenSession?

    /// Whether a process that runs has the flow in its memory and goes on with it.
    public internal(set) var isDriven = false

    /// What became of the shared secret, where the flow signed in with a decapsulation.
    public internal(set) var secret: SecretStanding?

    /// Whether nothing more happens without somebody asking for it: ended or parked.
    public var rests: Bool { state.isTerminal || state.isParked }

    /// The steps behind number `count`, oldest first, as the control API shows them.
    public func stepDocuments(after count: Int) -> [JSON] {
        steps.enumerated().dropFirst(max(0, count)).map { $0.element.json(number: $0.offset + 1) }
    }
}

extension FlowView {
    /// How many signed proofs the flow has sent.
    public var proofCount: Int {
        steps.reduce(0) { count, step in
            switch step {
            case .call(let call): count + call.proofs.count
            case .archived(let document): count + (document["proved"]?.array?.count ?? 0)
            case .state, .scan, .face, .evidence, .fault, .event: count
            }
        }
    }
}
