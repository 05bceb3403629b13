public import Crypto

/// Why a virtual phone's platform gives no evidence.
public enum AttestationError: Error, Sendable, Hashable {
    /// Evidence of this format cannot have this defect.
    case notApplicable(AttestationDefect, EvidenceFormat)
    /// The defect is one of client data, or of whose they are, and a challenge alone shows no difference.
    case noDifference(AttestationDefect, EvidenceFormat)
    /// The same bytes again were asked for, and there has been no evidence of the format for the issuer.
    case nothingToReplay(EvidenceFormat)
    /// The caller gave no key for a format that needs one.
    case missingKey(EvidenceFormat)
    /// An assertion's counter has reached its end, 2^32 - 1.
    case counterExhausted
    /// A setting no phone has: its name, and the rule it breaks.
    case setting(name: String, rule: String)
    /// A challenge too long for the format, in bytes, or not of its characters; says the rule.
    case challenge(EvidenceFormat, rule: String)
    /// OpenSSL refused, or what is stored is no key.
    case crypto(CryptoError)

    /// A stable dotted name of the rule that was broken.
    public var code: String {
        switch self {
        case .notApplicable: "attest.defect.not_applicable"
        case .noDifference: "attest.defect.no_difference"
        case .nothingToReplay: "attest.defect.nothing_to_replay"
        case .missingKey: "attest.key.missing"
        case .counterExhausted: "attest.counter.exhausted"
        case .setting(let name, _): "attest.setting.\(name)"
        case .challenge: "attest.challenge"
        case .crypto(let error): error.code
        }
    }
}

extension AttestationError: CustomStringConvertible {
    /// The rule and what broke it, for a person.
    public var description: String {
        switch self {
        case .notApplicable(let defect, let format):
            "evidence of format \(format.rawValue) cannot have the defect \(defect.rawValue)"
        case .noDifference(let defect, let format):
            "\(defect.rawValue) makes no difference to \(format.rawValue) evidence for a challenge alone"
        case .nothingToReplay(let format):
            "there has been no \(format.rawValue) evidence for this issuer that could be sent again"
        case .missingKey(let format): "\(format.rawValue) evidence needs a key, and none was given"
        case .counterExhausted: "the App Attest key's counter has reached its end"
        case .setting(let name, let rule): "\(name): \(rule)"
        case .challenge(let format, let rule): "a challenge for \(format.rawValue) evidence \(rule)"
        case .crypto(let error): error.description
        }
    }
}
