import Crypto
import Encoding
import HTTP
import JOSE
import Synchronization
import Transport

/// One request with its answer, in full: what a trace is written from and what the demo shows its evidence from.
struct Exchange: Sendable {
    /// What was sent.
    let request: ClientRequest
    /// What came back; nil where nothing did.
    let response: HTTPResponse?

    /// The request's body as form fields; empty where it is something else.
    var form: FormFields { (try? FormFields(decoding: request.body)) ?? FormFields() }

    /// The request's body as JSON; `null` where it is something else.
    var sentJSON: JSON { (try? JSON(parsing: request.body)) ?? .null }

    /// The answer's body as JSON; `null` where it is something else.
    var answerJSON: JSON { response.flatMap { try? JSON(parsing: $0.body) } ?? .null }

    /// The DPoP proof it carried.
    var dpopProof: JWS? { request.fields["DPoP"].flatMap { try? JWS(compact: $0) } }

    /// The access token it carried under the DPoP scheme.
    var accessToken: String? {
        guard let value = request.fields["Authorization"], value.hasPrefix("DPoP ") else { return nil }
        return String(value.dropFirst(5))
    }
}

extension JWS {
    /// The payload as a JSON object; empty where it is something else.
    var claims: JSONObject { (try? JSON(parsing: payload))?.object ?? JSONObject() }

    /// The thumbprint of the key it names: in its header whole, or by its thumbprint.
    var signer: String? {
        if let key = header["jwk"] { return (try? JWK(key))?.thumbprint }
        return keyID
    }
}

/// The exchanges of a run in the order they ended; filled from any thread.
final class ExchangeLog: Sendable {
    private let exchanges = Mutex<[Exchange]>([])

    /// Adds one exchange.
    func record(_ request: ClientRequest, _ response: HTTPResponse?) {
        exchanges.withLock { $0.append(Exchange(request: request, response: response)) }
    }

    /// All exchanges so far.
    var all: [Exchange] { exchanges.withLock { $0 } }

    /// How many there are so far.
    var count: Int { exchanges.withLock { $0.count } }
}

extension Exchange {
    /// The exchange as a call step of a flow, for exchanges that no flow has steps of.
    func step(_ call: String, install: String) -> JSON {
        var step = JSONObject([
            ("kind", "call"), ("call", .string(call)), ("attempt", 1), ("method", .string(request.method)),
            ("url", .string(request.url.text)),
        ])
        if let response {
            step["status"] = .int(Int64(response.status))
            step["error"] = error(response).map(JSON.string)
            step["error_description"] = answerJSON["error_description"]
        } else {
            step["lost"] = "no answer"
        }
        step["proved"] = .array(proofs(install: install))
        return .object(step)
    }

    /// The OAuth error of a refusal: in the body, or in the challenge of an API (RFC 6750 section 3).
    private func error(_ response: HTTPResponse) -> String? {
        guard response.status >= 400 else { return nil }
        if let error = answerJSON["error"]?.string { return error }
        guard let challenge = response.fields["WWW-Authenticate"] else { return nil }
        let parts = challenge.split(separator: "error=\"", maxSplits: 1)
        return parts.count == 2 ? String(parts[1].prefix { $0 != "\"" }) : nil
    }

    private func proofs(install: String) -> [JSON] {
        var proofs: [JSON] = []
        if let proof = dpopProof { proofs.append(Self.proof(proof, place: ("header", "DPoP"), install: install)) }
        for name in ["request", "enrollment"] {
            guard let jws = sentJSON[name]?.string.flatMap({ try? JWS(compact: $0) }) else { continue }
            proofs.append(Self.proof(jws, place: ("body", name), install: install))
        }
        return proofs
    }

    private static func proof(_ jws: JWS, place: (String, String), install: String) -> JSON {
        .object([
            (place.0, .string(place.1)), ("by", jws.signer == install ? "install key" : "device key"),
            ("kid", .string(jws.signer ?? "")), ("claims", .object(jws.claims)),
        ])
    }
}
