import Crypto
public import Device
public import Encoding
public import SignIn

/// One thing that happened in a flow, as the journal, the command line and the page show it.
public enum Step: Sendable {
    /// The flow came into a state.
    case state(SignInState)
    /// An exchange with a server, answered or lost.
    case call(CallStep)
    /// The camera saw something.
    case scan(ScanOutcome)
    /// The face token was opened, was not, or was sealed again.
    case face(FaceEvent)
    /// Evidence about the app was made, or could not be.
    case evidence(EvidenceStep)
    /// A fault somebody asked for took place.
    case fault(name: String, at: FaultPoint, id: String)
    /// Something outside of any flow.
    case event(JournalEvent)
    /// A step of an earlier process, as the store kept it.
    case archived(JSON)

    /// The kind's name in the journal.
    var kind: String {
        switch self {
        case .state: "state"
        case .call: "call"
        case .scan: "scan"
        case .face: "face"
        case .evidence: "evidence"
        case .fault: "fault"
        case .event(let event): event.kind
        case .archived(let document): document["kind"]?.string ?? "unknown"
        }
    }
}

/// What became of a face token on the device.
public enum FaceEvent: Sendable, Hashable {
    /// The face opened it.
    case opened
    /// The face did not open it: somebody else's.
    case notOpened
    /// It was sealed again as this generation.
    case resealed(generation: UInt32)
    /// A key operation of this kind ran with it.
    case operated(SignInPKIRequest.Kind, scope: SignInPKIRequest.Scope)
    /// It holds no seed of this class, and the key operation needs one.
    case keysMissing(FacePKIClass)
}

/// One exchange: what was sent where, what proved it, and what came back.
public struct CallStep: Sendable {
    /// What became of the exchange.
    public enum Outcome: Sendable, Hashable {
        /// An answer with this status, and the OAuth error in it if it is one.
        case answered(status: Int, error: String?, description: String?)
        /// No answer, for this reason.
        case lost(String)
    }

    /// The call's name, such as `start` or `face-token`.
    public let call: String
    /// 1 for the first time this call is made, 2 for a repetition, and so on.
    public let attempt: Int
    /// The method.
    public let method: String
    /// The URL called.
    public let url: String
    /// What became of it.
    public let outcome: Outcome
    /// The proofs it carried.
    public let proofs: [SentProof]
    /// How long it took, in milliseconds.
    public let milliseconds: Double
    /// Who had given the client assertion it carried, such as `local key`; nil for none.
    public var clientAssertionBy: String?
    /// What the phone and the server took for the time at the answer, where the server says.
    public var times: (device: Instant, server: Instant)?
    /// The number of what a reference IdP noted about the request.
    public var finding: Int64?
    /// How the client authenticated by attestation; nil where it did not.
    public var clientAttestation: ClientAttestationStep?
}

/// How a call's client authenticated by attestation.
public struct ClientAttestationStep: Sendable, Hashable {
    /// How the instance proved that it holds its key.
    public let mode: ClientAttestationOrder.Mode
    /// What was wrong on purpose.
    public let defect: ClientAttestationDefect

    init(of client: AttestedClient) {
        mode = client.mode
        defect = client.defect
    }

    fileprivate var json: JSON {
        var members: [(String, JSON)] = [("mode", .string(mode.rawValue))]
        if defect != .none { members.append(("defect", .string(defect.rawValue))) }
        return .object(members)
    }
}

/// A signed proof as it went out.
public struct SentProof: Sendable, Hashable {
    /// The key that signed it.
    public enum Signer: String, Sendable {
        /// The install's DPoP key.
        case installKey = "install key"
        /// An enrolment's device key.
        case deviceKey = "device key"
        /// A key made for one ceremony, by a device that holds none.
        case throwawayKey = "throwaway key"
        /// A key that is none of this phone's, on purpose.
        case otherKey = "another key"
    }

    /// Where it stood: a header's or a body member's name.
    public enum Place: Sendable, Hashable {
        /// A header of this name.
        case header(String)
        /// A body member of this name.
        case body(String)
    }

    /// Where it stood.
    public let place: Place
    /// Who signed it.
    public let signer: Signer
    /// The signer's RFC 7638 thumbprint.
    public let thumbprint: String
    /// The compact JWS.
    let jws: String
}

extension Step {
    /// The step as the control API shows it; tokens never occur in it.
    public func json(number: Int) -> JSON {
        var members: [(String, JSON)] = [("n", .int(Int64(number))), ("kind", .string(kind))]
        switch self {
        case .archived(let document): return document
        case .state(let state): members += state.documentMembers
        case .call(let call): members += call.jsonMembers
        case .scan(let outcome): members.append(("outcome", .string(outcome.text)))
        case .face(let event): members += event.jsonMembers
        case .event(let event): members += event.members
        case .evidence(let event): members += event.jsonMembers
        case .fault(let name, let point, let id):
            members += [("call", .string(point.name)), ("fault", .string(name)), ("id", .string(id))]
        }
        return .object(members)
    }
}

extension FaceEvent {
    fileprivate var jsonMembers: [(String, JSON)] {
        switch self {
        case .opened: [("event", "opened")]
        case .notOpened: [("event", "not opened")]
        case .resealed(let generation): [("event", "re-sealed"), ("generation", .int(Int64(generation)))]
        case .operated(let kind, let scope):
            [("event", "key operation"), ("operation", .string(kind.rawValue)), ("scope", .string(scope.rawValue))]
        case .keysMissing(let name): [("event", "keys not ready"), ("class", .string(name.rawValue))]
        }
    }
}

extension CallStep {
    fileprivate var jsonMembers: [(String, JSON)] {
        var members: [(String, JSON)] = [
            ("call", .string(call)), ("attempt", .int(Int64(attempt))), ("method", .string(method)),
            ("url", .string(url)),
        ]
        switch outcome {
        case .answered(let status, let error, let description):
            members.append(("status", .int(Int64(status))))
            if let error { members.append(("error", .string(error))) }
            if let description { members.append(("error_description", .string(description))) }
        case .lost(let why):
            members.append(("lost", .string(why)))
        }
        members.append(("proved", .array(proofs.map(\.json))))
        if let clientAssertionBy { members.append(("client_assertion", ["by": .string(clientAssertionBy)])) }
        if let times {
            members += [("device_time", .int(times.device.seconds)), ("server_time", .int(times.server.seconds))]
        }
        if let finding { members.append(("finding", .int(finding))) }
        if let clientAttestation { members.append(("client_attestation", clientAttestation.json)) }
        members.append(("milliseconds", .double((milliseconds * 100).rounded() / 100)))
        return members
    }
}

extension SentProof {
    fileprivate var json: JSON {
        let (place, name) =
            switch self.place {
            case .header(let name): ("header", name)
            case .body(let name): ("body", name)
            }
        return .object([
            (place, .string(name)), ("by", .string(signer.rawValue)), ("kid", .string(thumbprint)),
            ("claims", claims),
        ])
    }

    /// The payload, read only now: most steps are never shown.
    private var claims: JSON {
        let segments = jws.split(separator: ".")
        guard segments.count == 3, let payload = try? Base64URL.decode(segments[1]) else { return .null }
        return (try? JSON(parsing: payload)) ?? .null
    }
}
