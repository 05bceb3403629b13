public import Device

/// The name of one effect within its flow; the answer quotes it.
public struct EffectID: RawRepresentable, Codable, Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Counts the flow's effects, beginning with 1.
    public let rawValue: Int

    /// Takes a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The number.
    public var description: String { "#\(rawValue)" }

    /// Earlier effects come first.
    public static func < (left: EffectID, right: EffectID) -> Bool { left.rawValue < right.rawValue }
}

/// Something the machine wants done.
///
/// The edge answers each effect with exactly one event that quotes its id, but for ``Action/done``, which has no
/// answer.
public struct Effect: Codable, Sendable, Hashable {
    /// The name the answer quotes.
    public let id: EffectID
    /// What to do.
    public let action: Action
}

/// What an effect does.
public enum Action: Codable, Sendable, Hashable {
    /// Fetch the issuer's metadata: ``Event/discovered(_:_:)`` or ``Event/discoveryFailed(_:_:)``.
    case discover(issuer: String)
    /// Make an HTTP call: ``Event/responded(_:_:)`` or ``Event/lost(_:detail:)``.
    case call(Call)
    /// Make evidence about the app for one send of a start: ``Event/attested(_:evidence:)``,
    /// ``Event/attestationUnavailable(_:rule:)``, or ``Event/keyUnavailable(_:)``.
    case attest(StartBinding)
    /// Sign a device ceremony, stamping `iat` and `jti`: ``Event/ceremonySigned(_:jws:)`` or
    /// ``Event/keyUnavailable(_:)``.
    case signCeremony(CeremonyClaims, key: CeremonyKey)
    /// Show the camera for the flow's capture of this number, beginning with 1: ``Event/captured(_:_:)``.
    case capture(number: Int)
    /// Open the sealed face token with the face in the sample: ``Event/faceTokenOpened(_:)``,
    /// ``Event/faceTokenNotOpened(_:)`` for a wrong face, ``Event/faceTokenUnusable(_:rule:)`` for anything else.
    case openFaceToken(sealed: [UInt8], sample: SampleID)
    /// Run the key operation with the opened face token, and keep a shared secret to be taken once:
    /// ``Event/pkiRan(_:_:)``, ``Event/pkiKeysNotReady(_:)`` or ``Event/faceTokenUnusable(_:rule:)``.
    case runPKI(PKIOperation)
    /// Seal the opened face token anew, as this generation, with new seeds of the Face PKI classes it lacks of these:
    /// ``Event/faceTokenRotated(_:sealed:)`` or ``Event/faceTokenUnusable(_:rule:)``.
    case rotateFaceToken(generation: UInt32, addingSeeds: [FacePKIClass])
    /// Replace the stored session with this one, in one transaction: ``Event/committed(_:)``, or
    /// ``Event/keyUnavailable(_:)`` where the secure storage takes nothing.
    case commit(TokenSession)
    /// The flow needs nothing more. Comes once, last.
    case done

    /// The action's name.
    public var name: String {
        switch self {
        case .discover: "discover"
        case .call(let call): "call(\(call.purpose.rawValue))"
        case .attest: "attest"
        case .signCeremony(let claims, _): "signCeremony(\(claims.act.name))"
        case .capture: "capture"
        case .openFaceToken: "openFaceToken"
        case .runPKI(let operation): "runPKI(\(operation.request.kind.rawValue))"
        case .rotateFaceToken: "rotateFaceToken"
        case .commit: "commit"
        case .done: "done"
        }
    }

    /// Whether the action crosses the network, so that its reply can be lost.
    public var isNetwork: Bool {
        switch self {
        case .discover, .call: true
        case .attest, .signCeremony, .capture, .openFaceToken, .runPKI, .rotateFaceToken, .commit, .done: false
        }
    }
}

extension Effect: CustomStringConvertible, CustomReflectable {
    /// Id and name; the payloads often hold secrets.
    public var description: String { "\(id) \(action.name)" }

    /// Hides the payload from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["effect": description]) }
}

extension Action: CustomStringConvertible, CustomReflectable {
    /// The name; the payloads often hold secrets.
    public var description: String { name }

    /// Hides the payload from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["action": name]) }
}

/// Which key signs a ceremony.
public enum CeremonyKey: Codable, Sendable, Hashable {
    /// The enrolled device key with this thumbprint.
    case enrolment(kid: String)
    /// A key made for the occasion: the hint names an address this device holds no key for.
    case throwaway
}

/// The name of a live face sample the camera took.
///
/// It need not outlive the process: after a kill the camera is asked again.
public struct SampleID: RawRepresentable, Codable, Sendable, Hashable, CustomStringConvertible {
    /// The name as text.
    public let rawValue: String

    /// Takes a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name as text; it is no secret.
    public var description: String { rawValue }
}
