public import Device
public import OAuth

/// Something that happened to a flow: a command, or the answer to an effect.
///
/// An answer that quotes an effect the machine does not wait for is late or a duplicate, and is ignored.
public enum Event: Codable, Sendable, Hashable {
    /// Start the flow, with what the device knows and random values drawn for it.
    case start(DeviceFacts, FlowSecrets)
    /// The issuer's metadata came and is valid.
    case discovered(EffectID, ServerMetadata)
    /// The issuer's metadata did not come, or cannot be used.
    case discoveryFailed(EffectID, DiscoveryFailure)
    /// A call was answered, whatever the status.
    case responded(EffectID, CallResponse)
    /// A call was not answered: unreachable, timed out, closed early, or no client assertion could be had.
    case lost(EffectID, detail: String)
    /// The evidence is made: the JSON object of SenseCrypt wire, section 14, in base64url.
    case attested(EffectID, evidence: String)
    /// No evidence can be made, for the rule named.
    case attestationUnavailable(EffectID, rule: String)
    /// The ceremony is signed.
    case ceremonySigned(EffectID, jws: String)
    /// A key this effect needs is invalidated or gone: the ceremony key, the DPoP key of a call, or the storage of a
    /// commit.
    case keyUnavailable(EffectID)
    /// The camera is done.
    case captured(EffectID, Capture)
    /// The face in the sample opened the face token.
    case faceTokenOpened(EffectID)
    /// The face in the sample did not open the face token.
    case faceTokenNotOpened(EffectID)
    /// The key operation ran.
    case pkiRan(EffectID, PKIOutput)
    /// The face token holds no seed of a class the key operation needs.
    case pkiKeysNotReady(EffectID)
    /// The face token is sealed anew.
    case faceTokenRotated(EffectID, sealed: [UInt8])
    /// The face token, or the one to be sealed, cannot be used whatever the face: damaged, or of another format,
    /// binding or generation.
    case faceTokenUnusable(EffectID, rule: String)
    /// The session is stored.
    case committed(EffectID)
    /// The person wants a parked result sent again.
    case retry
    /// The person or the app wants out.
    case cancel

    /// The event's name.
    public var name: String {
        switch self {
        case .start: "start"
        case .discovered: "discovered"
        case .discoveryFailed: "discoveryFailed"
        case .responded: "responded"
        case .lost: "lost"
        case .attested: "attested"
        case .attestationUnavailable: "attestationUnavailable"
        case .ceremonySigned: "ceremonySigned"
        case .keyUnavailable: "keyUnavailable"
        case .captured: "captured"
        case .faceTokenOpened: "faceTokenOpened"
        case .faceTokenNotOpened: "faceTokenNotOpened"
        case .pkiRan: "pkiRan"
        case .pkiKeysNotReady: "pkiKeysNotReady"
        case .faceTokenRotated: "faceTokenRotated"
        case .faceTokenUnusable: "faceTokenUnusable"
        case .committed: "committed"
        case .retry: "retry"
        case .cancel: "cancel"
        }
    }

    /// The effect this event answers, or nil for a command.
    public var effect: EffectID? {
        switch self {
        case .start, .retry, .cancel: nil
        case .discovered(let id, _), .discoveryFailed(let id, _), .responded(let id, _), .lost(let id, _),
            .attested(let id, _), .attestationUnavailable(let id, _), .ceremonySigned(let id, _),
            .keyUnavailable(let id), .captured(let id, _), .faceTokenOpened(let id),
            .faceTokenNotOpened(let id), .pkiRan(let id, _), .pkiKeysNotReady(let id), .faceTokenRotated(let id, _),
            .faceTokenUnusable(let id, _),
            .committed(let id):
            id
        }
    }
}

extension Event: CustomStringConvertible, CustomReflectable {
    /// Name and effect; the payloads often hold secrets.
    public var description: String { effect.map { "\(name) \($0)" } ?? name }

    /// Hides the payload from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["event": description]) }
}

/// What the camera came back with.
public enum Capture: Codable, Sendable, Hashable {
    /// A live face, to be matched.
    case live(SampleID)
    /// The liveness check failed, for the reason named.
    case livenessFailed(reason: String)
    /// No usable picture.
    case badCapture(BadCapture)
    /// The person closed the capture.
    case closed
}

/// Why there is no metadata.
public enum DiscoveryFailure: Codable, Sendable, Hashable {
    /// No answer came.
    case unreachable(detail: String)
    /// The server answered 429 or 500 and above.
    case unavailable(status: Int, retryAfter: String?)
    /// The answer cannot be used.
    case invalid(MetadataError)
}
