public import Device
public import OAuth

extension AuthorizationCodeSignIn {
    /// The random values of one flow, drawn by the edge because a machine draws nothing.
    public struct Secrets: Codable, Sendable, Hashable {
        /// The PKCE `code_verifier`: 43 to 128 unreserved characters.
        public var codeVerifier: String
        /// The OpenID Connect `nonce` the ID token must repeat.
        public var nonce: String
        /// The `state` the redirect must repeat.
        public var state: String

        /// Takes values drawn from an entropy source.
        public init(codeVerifier: String, nonce: String, state: String) {
            self.codeVerifier = codeVerifier
            self.nonce = nonce
            self.state = state
        }
    }

    /// Something that happened to a flow: a command, or the answer to an effect.
    ///
    /// An answer that quotes an effect the machine does not wait for is late or a duplicate, and is ignored.
    public enum Event: Codable, Sendable, Hashable {
        /// Start the flow, with the thumbprint of the install's DPoP key and random values drawn for it.
        case start(installThumbprint: String, Secrets)
        /// The issuer's metadata came and is valid.
        case discovered(EffectID, ServerMetadata)
        /// The issuer's metadata did not come, or cannot be used.
        case discoveryFailed(EffectID, DiscoveryFailure)
        /// The redirect URI is listened at; `redirectURI` names the port where the system picked it.
        case listening(EffectID, redirectURI: String)
        /// A page was answered, whatever the status, with this `Location`.
        case visited(EffectID, CallResponse, location: String?)
        /// The browser came back to the redirect URI, at this address.
        case redirected(EffectID, address: String)
        /// The redirect URI cannot be listened at, or nobody came there in time.
        case browserFailed(EffectID, detail: String)
        /// A call was answered, whatever the status.
        case responded(EffectID, CallResponse)
        /// A call or a page was not answered.
        case lost(EffectID, detail: String)
        /// The DPoP key of a call, or the storage of a commit, is not usable any more.
        case keyUnavailable(EffectID)
        /// The session is stored.
        case committed(EffectID)
        /// The person or the app wants out.
        case cancel

        /// The event's name.
        public var name: String {
            switch self {
            case .start: "start"
            case .discovered: "discovered"
            case .discoveryFailed: "discoveryFailed"
            case .listening: "listening"
            case .visited: "visited"
            case .redirected: "redirected"
            case .browserFailed: "browserFailed"
            case .responded: "responded"
            case .lost: "lost"
            case .keyUnavailable: "keyUnavailable"
            case .committed: "committed"
            case .cancel: "cancel"
            }
        }

        /// The effect this event answers, or nil for a command.
        public var effect: EffectID? {
            switch self {
            case .start, .cancel: nil
            case .discovered(let id, _), .discoveryFailed(let id, _), .listening(let id, _), .visited(let id, _, _),
                .redirected(let id, _), .browserFailed(let id, _), .responded(let id, _), .lost(let id, _),
                .keyUnavailable(let id), .committed(let id):
                id
            }
        }
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
        /// Listen at a loopback redirect URI until the flow is done: ``Event/listening(_:redirectURI:)`` or
        /// ``Event/browserFailed(_:detail:)``.
        case listen(redirectURI: String)
        /// Show a person the address and wait for the browser at the redirect URI:
        /// ``Event/redirected(_:address:)`` or ``Event/browserFailed(_:detail:)``.
        case awaitBrowser(url: String)
        /// Ask for a page with `GET`, the first of the way or a later one: ``Event/visited(_:_:location:)`` or
        /// ``Event/lost(_:detail:)``.
        case visit(url: String, page: Int, attempt: Int)
        /// Make an HTTP call: ``Event/responded(_:_:)`` or ``Event/lost(_:detail:)``.
        case call(Call)
        /// Replace the stored session with this one, in one transaction: ``Event/committed(_:)``, or
        /// ``Event/keyUnavailable(_:)`` where the secure storage takes nothing.
        case commit(TokenSession)
        /// The flow needs nothing more. Comes once, last.
        case done

        /// The action's name.
        public var name: String {
            switch self {
            case .discover: "discover"
            case .listen: "listen"
            case .awaitBrowser: "awaitBrowser"
            case .visit: "visit"
            case .call(let call): "call(\(call.purpose.rawValue))"
            case .commit: "commit"
            case .done: "done"
            }
        }
    }
}

extension AuthorizationCodeSignIn.Secrets: CustomStringConvertible, CustomReflectable {
    /// Nothing of what it holds.
    public var description: String { "flow secrets" }

    /// Hides the values from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension AuthorizationCodeSignIn.Event: CustomStringConvertible, CustomReflectable {
    /// Name and effect; the payloads often hold secrets.
    public var description: String { effect.map { "\(name) \($0)" } ?? name }

    /// Hides the payload from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["event": description]) }
}

extension AuthorizationCodeSignIn.Effect: CustomStringConvertible, CustomReflectable {
    /// Id and name; the payloads often hold secrets.
    public var description: String { "\(id) \(action.name)" }

    /// Hides the payload from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["effect": description]) }
}

extension AuthorizationCodeSignIn.Action: CustomStringConvertible, CustomReflectable {
    /// The name; the payloads often hold secrets.
    public var description: String { name }

    /// Hides the payload from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["action": name]) }
}
