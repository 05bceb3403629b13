import Crypto
import Encoding
import JOSE

// Play Integrity's verdict as its documentation has it: signed (ES256), then encrypted (A256KW, A256GCM).

extension EvidenceMaker {
    /// A token of a request of either kind.
    func playToken(_ binding: EvidenceBinding) throws(CryptoError) -> Evidence.Body {
        guard case .text(let text) = binding.bound else { throw .keyKind }
        let key = defect == .wrongKey ? binding.stranger : roots.playSigningKey
        let payload = verdict(text, isClassic: binding.format == .playIntegrityClassic)
        let signed = try JWS.sign(
            header: JSONObject([("alg", "ES256")]), payload: payload.serialized(), key: key,
            nonce: entropy.signingNonce)
        let token = try JWE.encrypt(Array(signed.utf8), key: roots.playDecryptionKey, entropy: entropy)
        return .token(ended(token: token))
    }

    private func verdict(_ text: String, isClassic: Bool) -> JSON {
        // The app is another one, or only the request says so.
        let requested = settings.app.package + (defect == .wrongEnvironment ? ".other" : "")
        return [
            "requestDetails": [
                "requestPackageName": .string(requested),
                // 64-bit numbers are texts in this API.
                "timestampMillis": .string(String(now.milliseconds)),
                isClassic ? "nonce" : "requestHash": .string(text),
            ],
            "appIntegrity": [
                "appRecognitionVerdict": .string(settings.appVerdict.rawValue),
                "packageName": .string(settings.app.package),
                "certificateSha256Digest": [.string(Base64URL.encode(settings.app.certificateDigest))],
                "versionCode": .string(String(settings.app.version)),
            ],
            "deviceIntegrity": [
                "deviceRecognitionVerdict": .array(settings.deviceVerdicts.map { .string($0) })
            ],
            "accountDetails": ["appLicensingVerdict": .string(settings.licensingVerdict.rawValue)],
        ]
    }

    /// The token with its tag cut short, or longer, where that is the defect.
    private func ended(token: String) -> String {
        guard let dot = token.lastIndex(of: "."), let tag = try? Base64URL.decode(token[token.index(after: dot)...])
        else { return token }
        return String(token[...dot]) + Base64URL.encode(ended(tag))
    }
}
