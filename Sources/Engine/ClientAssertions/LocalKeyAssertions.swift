import Crypto
import Encoding
import JOSE

/// Mints assertions with a private key at hand, as the app's backend would (RFC 7523 section 3, FAPI 2.0).
///
/// A key on P-256 signs ES256, an RSA key PS256.
struct LocalKeyAssertions: ClientAssertionProvider {
    /// Seconds an assertion lives: one exchange, with some patience.
    static let lifetime: Int64 = 60

    let kind = "local key"
    private let key: SigningKey
    private let keyID: String
    private let clock: any WallClock
    private let draws: DeviceEntropy

    /// The time is the wall's, not the device's: a backend has a clock of its own.
    init(_ file: SigningKeyFile, clock: any WallClock, draws: DeviceEntropy) {
        key = file.key
        keyID = file.keyID ?? file.key.publicKey.thumbprint
        self.clock = clock
        self.draws = draws
    }

    func clientAssertion(for request: ClientAssertionRequest) async throws(ClientAssertionError) -> String {
        let now = clock.now().seconds
        let header = JSONObject([
            ("typ", "client-authentication+jwt"), ("alg", .string(key.algorithm.rawValue)), ("kid", .string(keyID)),
        ])
        let claims = JSONObject([
            ("iss", .string(request.clientID)), ("sub", .string(request.clientID)),
            ("aud", .string(request.audience)), ("iat", .int(now)), ("exp", .int(now + Self.lifetime)),
            ("jti", .string(draws[install: request.dpopJkt].token(16))),
        ])
        do throws(CryptoError) {
            return try key.sign(header: header, payload: JSON.object(claims).serialized())
        } catch {
            throw .unavailable(details: "the key does not sign: \(error.code)")
        }
    }
}
