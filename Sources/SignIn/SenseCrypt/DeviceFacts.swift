public import Device

/// What the machine must know about the phone it runs on: names of keys, never a key.
public struct DeviceFacts: Codable, Sendable, Hashable {
    /// One user enrolled on this device.
    public struct Enrolment: Codable, Sendable, Hashable {
        /// The issuer the user is enrolled at.
        public var issuer: String
        /// The user's address.
        public var email: String
        /// The RFC 7638 thumbprint of the device key, the name the issuer knows it by.
        public var kid: String

        /// Makes an enrolment's facts.
        public init(issuer: String, email: String, kid: String) {
            self.issuer = issuer
            self.email = email
            self.kid = kid
        }
    }

    /// What the device knows for evidence about the app.
    public struct Attestation: Codable, Sendable, Hashable {
        /// When the app sends evidence.
        public var sending: AttestationSettings.Sending
        /// The newest challenge of the issuer's server that may still be good; nil where there is none.
        public var challenge: String?

        /// Makes the facts.
        public init(sending: AttestationSettings.Sending = .auto, challenge: String? = nil) {
            self.sending = sending
            self.challenge = challenge
        }
    }

    /// The RFC 7638 thumbprint of the install's DPoP key.
    public var installThumbprint: String
    /// The users enrolled on this device, oldest first.
    public var enrolments: [Enrolment]
    /// What is known for evidence about the app.
    public var attestation: Attestation

    /// Makes the facts.
    public init(installThumbprint: String, enrolments: [Enrolment], attestation: Attestation = Attestation()) {
        self.installThumbprint = installThumbprint
        self.enrolments = enrolments
        self.attestation = attestation
    }
}

/// The random values of one flow, drawn by the edge because a machine draws nothing.
public struct FlowSecrets: Codable, Sendable, Hashable {
    /// The PKCE `code_verifier`: 43 to 128 unreserved characters.
    public var codeVerifier: String
    /// The OpenID Connect `nonce` the ID token must repeat.
    public var nonce: String

    /// Takes values drawn from an entropy source.
    public init(codeVerifier: String, nonce: String) {
        self.codeVerifier = codeVerifier
        self.nonce = nonce
    }
}

extension FlowSecrets: CustomStringConvertible, CustomReflectable {
    /// Nothing of what it holds.
    public var description: String { "flow secrets" }

    /// Hides the values from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
