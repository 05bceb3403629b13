import Encoding
import OAuth
import SignIn
import Testing

/// A sign-in at a standard server under test: events in, expected effects out, and after every event a copy from its
/// stored form must be equal and behave alike.
struct OAuthScript {
    typealias Flow = AuthorizationCodeSignIn

    private(set) var flow: Flow
    private(set) var effects: [Flow.Effect] = []
    /// The effects of the last event.
    private(set) var last: [Flow.Effect] = []
    /// The effects nothing has answered yet.
    private(set) var open: [Flow.Effect] = []

    init(_ door: BrowserDoor = Self.direct, config: SignInConfig = Self.config()) {
        flow = Flow(config: config, door: door)
    }

    static let direct = BrowserDoor.direct(redirectURI: redirectURI)
    static let redirectURI = "http://127.0.0.1:7429/callback"
    static let secrets = Flow.Secrets(
        codeVerifier: Phone.shared.secrets.codeVerifier, nonce: Phone.shared.secrets.nonce, state: "the-state")

    static func config(
        issuer: String = Phone.issuer, client: String = "app_demo", scopes: [String] = ["openid", "email"],
        resource: String? = nil
    ) -> SignInConfig {
        SignInConfig(issuer: issuer, clientID: client, resource: resource, scopes: scopes)
    }

    /// The metadata of a server with a browser's way; members given replace or, with null, remove.
    static func metadata(_ changes: [String: JSON] = [:]) throws -> ServerMetadata {
        var document = JSONObject([
            ("issuer", .string(Phone.issuer)), ("authorization_endpoint", .string(authorizationEndpoint)),
            ("token_endpoint", "https://acme.idp.example/token"),
            ("revocation_endpoint", "https://acme.idp.example/revoke"),
            ("authorization_response_iss_parameter_supported", true),
        ])
        for (name, value) in changes { document[name] = value == .null ? JSON?.none : value }
        return try ServerMetadata(
            members: AnswerMembers(document), issuer: Phone.issuer, allowPlainHTTPOnLoopback: false,
            ceremonyMember: "device_ceremony_endpoint")
    }

    static let authorizationEndpoint = "https://acme.idp.example/authorize"

    /// A redirect to the client; parameters given replace or, with nil, remove.
    static func redirect(_ changes: [String: String?] = [:], to place: String = redirectURI) -> String {
        var fields: [(String, String?)] = [
            ("code", Secret.code), ("state", secrets.state), ("iss", Phone.issuer), ("error", nil),
            ("error_description", nil),
        ]
        for index in fields.indices where changes.keys.contains(fields[index].0) {
            fields[index].1 = changes[fields[index].0] ?? nil
        }
        let form = FormFields(fields.compactMap { field in field.1.map { (field.0, $0) } })
        return place + "?" + String(decoding: form.encoded(), as: UTF8.self)
    }

    var state: SignInState { flow.state }
    var failure: SignInFailure? {
        if case .failed(let failure) = flow.state { failure } else { nil }
    }
    var names: [String] { last.map(\.action.name) }

    func calls(_ purpose: Call.Purpose) -> [Call] {
        effects.compactMap { effect in
            if case .call(let call) = effect.action, call.purpose == purpose { call } else { nil }
        }
    }

    /// The pages asked for so far.
    var pages: [String] {
        effects.compactMap { effect in
            if case .visit(let url, _, _) = effect.action { url } else { nil }
        }
    }

    /// Hands over one event and returns the names of the effects.
    @discardableResult
    mutating func send(_ event: Flow.Event) throws -> [String] {
        var twin = try stored(flow)
        try #require(twin == flow)
        last = flow.handle(event, at: Phone.now)
        let others = twin.handle(event, at: Phone.now)
        try #require(others == last)
        try #require(twin == flow)
        effects += last
        open.removeAll { $0.id == event.effect }
        open += last
        return names
    }

    @discardableResult
    mutating func start() throws -> [String] {
        try send(.start(installThumbprint: Phone.shared.thumbprint, Self.secrets))
    }

    /// Kills the process and takes the flow up from its stored form.
    @discardableResult
    mutating func killAndResume() throws -> [String] {
        flow = try stored(flow)
        last = flow.resume(at: Phone.now)
        effects += last
        open = last
        return names
    }

    func awaited() throws -> EffectID { try #require(last.last).id }

    @discardableResult
    mutating func respond(_ response: CallResponse) throws -> [String] { try send(.responded(awaited(), response)) }

    @discardableResult
    mutating func lose() throws -> [String] { try send(.lost(awaited(), detail: "connection reset")) }

    /// Answers the last page with a redirect to this address.
    @discardableResult
    mutating func redirect(to location: String?, status: Int = 302) throws -> [String] {
        let response = CallResponse(status: status, mediaType: nil, body: [])
        return try send(.visited(awaited(), response, location: location))
    }

    /// The way to the page, or to the browser.
    mutating func authorize(_ metadata: ServerMetadata? = nil) throws {
        try start()
        try send(.discovered(awaited(), metadata ?? Self.metadata()))
        if names == ["listen"] { try send(.listening(awaited(), redirectURI: Self.redirectURI)) }
    }

    /// The way to the token request.
    mutating func redeem(_ metadata: ServerMetadata? = nil) throws {
        try authorize(metadata)
        try redirect(to: Self.redirect())
        try #require(names == ["call(token)"])
    }

    /// What a world where all goes well answers.
    static func good(_ effect: Flow.Effect) throws -> Flow.Event? {
        switch effect.action {
        case .discover: .discovered(effect.id, try metadata())
        case .listen: .listening(effect.id, redirectURI: redirectURI)
        case .awaitBrowser: .redirected(effect.id, address: redirect())
        case .visit:
            .visited(effect.id, CallResponse(status: 302, mediaType: nil, body: []), location: redirect())
        case .call(let call):
            .responded(effect.id, call.purpose == .token ? Replies.goodTokens : Replies.revoked)
        case .commit: .committed(effect.id)
        case .done: nil
        }
    }
}
