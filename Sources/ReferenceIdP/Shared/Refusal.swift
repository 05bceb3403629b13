import Encoding
import JOSE
import Profiles

/// A request that was refused: what the caller is told, and what the person running the IdP is told.
///
/// Every refusal of the IdP is one of these, so none can be answered without leaving a finding.
struct Refusal: Error, Sendable {
    /// What the caller gets: a status, `error`, perhaps `error_description`.
    let answer: SenseCryptProfile.ErrorSpelling
    /// What the caller is told besides the code.
    ///
    /// Never says more than the protocol allows.
    var detail: String?
    /// The finding's rule, a stable dotted name.
    let rule: String
    /// What the rule wanted.
    let expected: String
    /// What came.
    let actual: String
    /// Fields of the response besides the usual ones.
    var fields: [(name: String, value: String)] = []
    /// Members of the body besides the usual ones: `field` and `rule` of the management API.
    var members: [(String, JSON)] = []
    /// At the resource API: no token was presented, so the challenge names no error.
    var isBareChallenge = false

    init(
        _ answer: SenseCryptProfile.ErrorSpelling, rule: String, expected: String, actual: String,
        detail: String? = nil
    ) {
        self.answer = answer
        self.detail = detail ?? answer.description
        self.rule = rule
        self.expected = expected
        self.actual = actual
    }

    /// The refusal of a bad DPoP proof, in the words of the profile.
    init(_ refusal: DPoPRefusal, errors: SenseCryptProfile.Errors) {
        let needsNonce = refusal.oauthError == errors.useDpopNonce.code
        self.init(
            needsNonce ? errors.useDpopNonce : errors.invalidDpopProof,
            rule: refusal.rule, expected: refusal.expected, actual: refusal.actual,
            detail: needsNonce ? "a fresh nonce of this server is needed" : "the proof is not acceptable")
    }
}
