import Encoding
import HTTP
import JOSE

/// A call of the resource API, its token and proof checked without time and state.
struct ResourceRequest: Sendable {
    /// How the call is authorised.
    enum Credentials: Sendable {
        case none
        /// More than one `Authorization` field.
        case several
        /// A scheme the API does not speak, or one without a token.
        case unusable(scheme: String)
        /// The scheme of unbound tokens.
        case bearer(Result<AccessToken, AccessToken.Fault>)
        case dpop(Result<AccessToken, AccessToken.Fault>)
    }

    let method: String
    let path: String
    /// The path behind the tenant.
    let localPath: String
    let bodyBytes: Int
    let credentials: Credentials
    let proof: ProofInput

    init(context: IntakeContext, tenant: String) {
        let request = context.request
        method = request.method
        path = request.path
        localPath = String(request.path.dropFirst(tenant.count + 1))
        bodyBytes = request.body.count
        let presented = Self.presented(request.fields.values("Authorization"))
        switch presented {
        case .token(let token):
            credentials = .dpop(Self.read(token, tenant, context))
            proof = context.proof(origin: context.settings.apiOrigin, accessToken: token)
        case .bearer(let token):
            credentials = .bearer(Self.read(token, tenant, context))
            proof = .failure(.headerCount(0))
        case .other(let other):
            credentials = other
            proof = .failure(.headerCount(0))
        }
    }

    private static func read(
        _ token: String, _ tenant: String, _ context: IntakeContext
    ) -> Result<AccessToken, AccessToken.Fault> {
        Result { () throws(AccessToken.Fault) in
            try AccessToken(token, tenant: tenant, settings: context.settings, off: context.off)
        }
    }

    private enum Presented {
        case token(String)
        case bearer(String)
        case other(Credentials)
    }

    /// The scheme is compared without case (RFC 9110 section 11.1).
    private static func presented(_ values: [String]) -> Presented {
        guard let value = values.first else { return .other(.none) }
        guard values.count == 1 else { return .other(.several) }
        let parts = value.split(separator: " ", maxSplits: 1)
        let scheme = parts.first.map { $0.lowercased() } ?? ""
        guard parts.count == 2 else { return .other(.unusable(scheme: scheme)) }
        switch scheme {
        case "dpop": return .token(String(parts[1]))
        case "bearer": return .bearer(String(parts[1]))
        default: return .other(.unusable(scheme: scheme))
        }
    }
}

extension Result where Failure == AccessToken.Fault {
    fileprivate init(_ check: () throws(AccessToken.Fault) -> Success) {
        do { self = .success(try check()) } catch { self = .failure(error) }
    }
}
