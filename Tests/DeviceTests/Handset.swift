import Crypto
import Encoding
import JOSE

@testable import Device

/// A platform, an install and its keys, out of one seed.
struct Handset {
    static let now = Instant(seconds: 1_796_014_200)
    static let issuer = "https://idp.test/t/one"

    let roots: AttestationRoots
    let key: P256.PrivateKey
    let subject: P256.PrivateKey
    let other: P256.PrivateKey
    var install = AttestedInstall()
    var settings = AttestationSettings()
    let entropy: Entropy

    init(seed: UInt8 = 1) throws {
        let entropy = Entropy(seed: [seed])
        self.entropy = entropy
        roots = try AttestationRoots.generate(entropy)
        key = try P256.PrivateKey.generate(entropy)
        subject = try P256.PrivateKey.generate(entropy)
        other = try P256.PrivateKey.generate(entropy)
    }

    static let data = ClientData.start(
        challenge: "challenge-of-the-server", clientID: "app", codeChallenge: "code-challenge", jkt: "thumbprint")

    mutating func evidence(
        _ format: EvidenceFormat, _ defect: AttestationDefect = .none, data: ClientData = Self.data,
        stale: String? = nil
    ) throws(AttestationError) -> Evidence {
        settings.defect = defect
        let request = EvidenceRequest(
            format: format, clientData: data, issuer: Self.issuer, staleChallenge: stale)
        let keys = EvidenceKeys(appAttest: key, subject: subject.publicKey, other: other)
        let (evidence, after) = try Attestor(roots: roots).evidence(
            request, of: install, keys: keys, settings: settings, at: Self.now, entropy: entropy)
        install = after
        return evidence
    }
}

extension Evidence {
    var object: [UInt8] {
        if case .appAttest(_, let object) = body { object } else { [] }
    }
    var keyID: [UInt8] {
        if case .appAttest(let id, _) = body { id } else { [] }
    }
    var chain: [[UInt8]] {
        if case .chain(let chain) = body { chain } else { [] }
    }
    var token: String {
        if case .token(let token) = body { token } else { "" }
    }
}
