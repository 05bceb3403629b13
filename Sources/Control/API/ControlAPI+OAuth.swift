import Device
import Encoding
import Engine
import HTTP
import OAuth
import SignIn

/// Sign-ins at standard authorization servers, and registering for them.
extension ControlAPI {
    /// The fields of a flow that only a standard authorization server knows.
    static let oauthFields = ["redirect_uri", "browser"]

    /// What kind of server a flow signs in at; SenseCrypt where nothing is said.
    func system(_ fields: BodyFields) throws(ControlProblem) -> SignInOrder.System {
        let name = try fields.optionalString("system", longest: 32) ?? "sensecrypt"
        switch name {
        case "sensecrypt":
            if let field = Self.oauthFields.first(where: fields.has) {
                throw .invalid(field, "a field of flows with \"system\":\"oauth\" only", got: nil)
            }
            return .senseCrypt
        case "oauth":
            if let field = ["scans", "pki", "attestation_defect"].first(where: fields.has) {
                throw .invalid(field, "no field of flows with \"system\":\"oauth\"", got: nil)
            }
            return .oauth(try door(fields))
        default: throw .invalid("system", "sensecrypt or oauth", got: .string(name))
        }
    }

    private func door(_ fields: BodyFields) throws(ControlProblem) -> BrowserDoor {
        var redirectURI: RedirectURI?
        if let text = try fields.optionalString("redirect_uri") { redirectURI = try redirect(text, "redirect_uri") }
        if try fields.flag("browser") { return .browser(redirectURI: redirectURI?.text) }
        return .direct(redirectURI: redirectURI?.text ?? BrowserDoor.standardRedirectURI)
    }

    private func redirect(_ text: String, _ field: String) throws(ControlProblem) -> RedirectURI {
        do throws(RedirectURIError) { return try RedirectURI(text) } catch {
            throw .invalid(field, error.description, got: .string(text))
        }
    }

    func registerClient(_ request: HTTPRequest) async throws(ControlProblem) -> HTTPResponse {
        let fields = try BodyFields(of: request, allowing: ["issuer", "redirect_uris", "client_name", "scopes"])
        let issuer = try fields.string("issuer", "the authorization server's issuer")
        var redirectURIs: [RedirectURI] = []
        for text in try fields.strings("redirect_uris", most: 16) {
            redirectURIs.append(try redirect(text, "redirect_uris"))
        }
        if redirectURIs.isEmpty { redirectURIs.append(try redirect(BrowserDoor.standardRedirectURI, "redirect_uris")) }
        let registration = ClientRegistration(
            redirectURIs: redirectURIs, name: try fields.optionalString("client_name", longest: 255) ?? "Understudy",
            scopes: try fields.strings("scopes", most: 64))
        let client = try await controlling { () throws(EngineError) in
            try await engine.registerClient(registration, issuer: issuer)
        }
        let asked = registration.redirectURIs.map(\.text)
        return .json(client.json(issuer: issuer, asked: asked), status: 201)
    }
}

extension RegisteredClient {
    fileprivate func json(issuer: String, asked: [String]) -> JSON {
        var members: [(String, JSON)] = [
            ("issuer", .string(issuer)), ("client_id", .string(clientID)),
            ("redirect_uris", .array((redirectURIs ?? asked).map { .string($0) })),
            ("token_endpoint_auth_method", .string(authentication)),
        ]
        if let scope { members.append(("scope", .string(scope))) }
        return .object(members)
    }
}
