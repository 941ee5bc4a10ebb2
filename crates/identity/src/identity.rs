//! The keys of a service and what is done with them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use aws_lc_rs::rand;
use serde_json::{Value, json};

use crate::audit::{self, Act, Audit, Broken, Chain, Noted};
use crate::cache::{Cache, Signed};
use crate::directory::{self, Stamp};
use crate::error::{Denied, Error};
use crate::key::{Key, KeyId, Secret};
use crate::ledger::{Event, Ledger, Line};
use crate::roles::{ROLES_MAX, Roles, good_name};
use crate::secret_key::SecretKey;
use crate::token::{self, Claims};
use crate::{base64, seal};

/// Tokens are issued for this service unless it was given another name.
const SERVICE: &str = "steadfast";
const LEDGER: &str = "ledger.jsonl";
const AUDIT: &str = "audit.jsonl";

/// The keys of one service, shared by everything that runs in this process.
pub struct Identity {
    pub(crate) place: Option<Place>,
    known: RwLock<Arc<Known>>,
    cache: Cache,
    /// one change at a time in this process
    changing: Mutex<()>,
}

/// Where keys are kept; without one they live as long as the process.
pub(crate) struct Place {
    pub(crate) directory: PathBuf,
    ledger: PathBuf,
    audit: Audit,
}

/// The ledger as it was last read.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) ledger: Ledger,
    stamp: Option<Stamp>,
    /// bytes of whole lines that were read
    read: u64,
    lines: usize,
}

/// What a token is to say.
#[derive(Clone, Debug)]
pub struct NewToken {
    pub principal: String,
    pub roles: Roles,
    /// none: the service whose keys these are
    pub service: Option<String>,
    pub lifetime_s: i64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Issued {
    /// what the principal presents
    pub text: String,
    pub claims: Claims,
    pub key: String,
}

/// What is revoked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target<'a> {
    /// by its id
    Token(&'a str),
    /// every token that this principal has been given so far
    Principal(&'a str),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenInfo {
    pub id: String,
    pub principal: String,
    pub roles: Roles,
    pub service: String,
    pub issued_at: i64,
    pub expires_at: i64,
    pub revoked: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyInfo {
    pub id: String,
    pub made_at: i64,
    pub retired_at: Option<i64>,
    /// the one that signs and seals now
    pub current: bool,
    /// for those who verify tokens elsewhere; none: retired
    pub public: Option<String>,
}

impl Identity {
    /// Keys that are forgotten when the process ends.
    pub fn in_memory() -> Result<Identity, Error> {
        let (key, secret) = random_key()?;
        let mut ledger = Ledger::default();
        let events =
            [Event::Service { name: SERVICE.into() }, Event::Key { id: key.id.to_string() }];
        for event in events {
            ledger.add(Line { at: crate::now_s(), event });
        }
        ledger.load_keys(&mut |_| secret.key().ok_or_else(no_key))?;
        ledger.add_secret_key(SecretKey::random().ok_or_else(no_randomness)?, crate::now_s());
        Ok(Identity::new(None, Known { ledger, ..Known::default() }))
    }

    /// Opens the keys in a directory. With `make`, there are keys afterwards.
    pub fn open(directory: impl AsRef<Path>, make: bool) -> Result<Identity, Error> {
        let directory = directory.as_ref().to_path_buf();
        let ledger = directory.join(LEDGER);
        if make {
            directory::make(&directory)?;
        } else if !ledger.is_file() {
            return Err(Error::Missing { path: directory });
        }
        directory::private(&directory)?;
        let audit = Audit::open(directory.join(AUDIT));
        let place = Place { directory, ledger, audit };
        let identity = Identity::new(Some(place), Known::default());
        if make {
            identity.make_first_key()?;
        }
        identity.refresh()?;
        Ok(identity)
    }

    fn new(place: Option<Place>, known: Known) -> Identity {
        let known = RwLock::new(Arc::new(known));
        Identity { place, known, cache: Cache::default(), changing: Mutex::new(()) }
    }

    fn make_first_key(&self) -> Result<(), Error> {
        self.change(&mut |ledger| {
            if ledger.current.is_some() {
                return Ok((Vec::new(), None));
            }
            let key = self.write_key()?;
            let lines =
                vec![Event::Service { name: SERVICE.into() }, Event::Key { id: key.to_string() }];
            Ok((lines, Some((Act::KeyMade, json!({ "key": key.to_string() })))))
        })
        .map(|_| ())
    }

    /// The name that tokens are issued for.
    pub fn service(&self) -> String {
        self.known().ledger.service.clone()
    }

    /// Is there a log of what was done with authority? Keys in memory have none.
    pub fn has_audit(&self) -> bool {
        self.place.is_some()
    }

    /// Writes a line of that log, signed; durable when this returns.
    pub fn note(&self, act: Act, by: &str, of: Value) -> Result<(), Error> {
        let Some(place) = &self.place else { return Ok(()) };
        place.note(&self.newest()?.ledger, act, by, of)
    }

    /// Walks the log and gives every entry to `each`, up to the first line that does not hold.
    pub fn verify_audit(
        &self,
        each: &mut dyn FnMut(&Noted),
    ) -> Result<Result<Chain, Broken>, Error> {
        let Some(place) = &self.place else {
            return Err(Error::Wrong("keys in memory have no log".into()));
        };
        let known = self.newest()?;
        // keys that are retired have signed what they have signed
        audit::verify(place.audit.path(), &|key| known.ledger.keys.contains_key(&key), each)
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The newest state: one look at the ledger tells whether there is anything new.
    pub(crate) fn newest(&self) -> Result<Arc<Known>, Error> {
        let known = self.known();
        let Some(place) = &self.place else { return Ok(known) };
        if known.stamp.is_some() && Stamp::of(&place.ledger) == known.stamp {
            return Ok(known);
        }
        self.refresh()
    }

    fn refresh(&self) -> Result<Arc<Known>, Error> {
        let Some(place) = &self.place else { return Ok(self.known()) };
        let mut file = match File::open(&place.ledger) {
            Ok(file) => file,
            Err(error) => return Err(Error::io(&place.ledger, &error)),
        };
        self.read_on(place, &mut file).map(|(known, _)| known)
    }

    /// Takes what was added to the ledger; gives how much of an unfinished line follows.
    fn read_on(&self, place: &Place, file: &mut File) -> Result<(Arc<Known>, u64), Error> {
        let path = &place.ledger;
        let metadata = file.metadata().map_err(|error| Error::io(path, &error))?;
        // before reading: what is added meanwhile makes another stamp
        let stamp = Stamp::from(&metadata);
        let before = self.known();
        let continues = before.stamp.is_some_and(|known| stamp.continues(&known, before.read));
        let mut known = match continues {
            true => Known {
                ledger: before.ledger.clone(),
                stamp: None,
                read: before.read,
                lines: before.lines,
            },
            false => Known::default(),
        };
        let (text, torn) = directory::lines_from(file, path, known.read)?;
        known.lines = known.ledger.take(&text, path, known.lines)?;
        known.ledger.load_keys(&mut |id| place.load_key(id))?;
        known.ledger.load_secret_keys(&mut |id| place.load_secret_key(id))?;
        if known.lines > 0 && known.ledger.current().is_none() {
            return Err(Error::Damaged { path: path.clone(), line: known.lines });
        }
        known.read += text.len() as u64;
        known.stamp = Some(stamp);
        let known = Arc::new(known);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&known);
        Ok((known, torn))
    }

    /// Adds lines that `decide` makes of the newest ledger, durable before this returns; other
    /// processes wait meanwhile.
    pub(crate) fn change(&self, decide: &mut Decide<'_>) -> Result<Arc<Known>, Error> {
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let at = crate::now_s();
        let stamped = |events: Vec<Event>| events.into_iter().map(move |event| Line { at, event });
        let Some(place) = &self.place else {
            let before = self.known();
            let mut known = Known { ledger: before.ledger.clone(), ..Known::default() };
            for line in stamped(decide(&before.ledger)?.0) {
                known.ledger.add(line);
            }
            let known = Arc::new(known);
            *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&known);
            return Ok(known);
        };
        let path = &place.ledger;
        let mut file = directory::open_lines(path)?;
        file.lock().map_err(|error| Error::io(path, &error))?;
        let (known, torn) = self.read_on(place, &mut file)?;
        let (events, act) = decide(&known.ledger)?;
        if events.is_empty() {
            return Ok(known);
        }
        let mut text = String::new();
        for line in stamped(events) {
            let line = serde_json::to_string(&line);
            text.push_str(&line.map_err(|error| Error::Wrong(error.to_string()))?);
            text.push('\n');
        }
        directory::append(&mut file, path, known.read, torn, &text)?;
        if known.lines == 0 {
            directory::sync_parent(path)?;
        }
        // the lock ends with the file
        drop(file);
        let known = self.refresh()?;
        if let Some((act, of)) = act {
            place.note(&known.ledger, act, &by(), of)?;
        }
        Ok(known)
    }

    fn write_key(&self) -> Result<KeyId, Error> {
        let (key, secret) = random_key()?;
        if let Some(place) = &self.place {
            directory::write_new(&place.key_path(key.id), &secret.to_text())?;
        }
        Ok(key.id)
    }

    /// Issues a token; it is in the ledger before it is given out.
    pub fn issue(&self, new: &NewToken, now_s: i64) -> Result<Issued, Error> {
        check_names(new)?;
        let mut id = [0; 12];
        rand::fill(&mut id).map_err(|_| no_randomness())?;
        let id = base64::encode(&id);
        let mut issued = None;
        self.change(&mut |ledger| {
            let Some(key) = ledger.current() else { return Err(no_key()) };
            // a principal that was revoked in this very second may be let in again
            let revoked = ledger.revoked_until(&new.principal).unwrap_or(i64::MIN);
            let iat = now_s.max(revoked.saturating_add(1));
            let claims = Claims {
                sub: new.principal.clone(),
                roles: new.roles.clone(),
                aud: new.service.clone().unwrap_or_else(|| ledger.service.clone()),
                iat,
                exp: now_s.saturating_add(new.lifetime_s),
                jti: id.clone(),
            };
            let text = token::write(&claims, key)
                .ok_or_else(|| Error::Wrong("the token would be too long".into()))?;
            let event = Event::Issued {
                token: id.clone(),
                principal: claims.sub.clone(),
                roles: claims.roles.clone(),
                service: claims.aud.clone(),
                from: claims.iat,
                expires: claims.exp,
            };
            let of = json!({
                "token": claims.jti, "principal": claims.sub, "roles": claims.roles,
                "service": claims.aud, "expires": claims.exp,
            });
            issued = Some(Issued { text, claims, key: key.id.to_string() });
            Ok((vec![event], Some((Act::TokenIssued, of))))
        })?;
        issued.ok_or_else(no_key)
    }

    /// Takes effect at once, here and in every process that uses the same directory.
    pub fn revoke(&self, target: Target<'_>, now_s: i64) -> Result<(), Error> {
        self.change(&mut |_| {
            let (event, of) = match target {
                Target::Token(token) => {
                    (Event::TokenRevoked { token: token.to_string() }, json!({ "token": token }))
                }
                Target::Principal(principal) => (
                    Event::PrincipalRevoked { principal: principal.to_string(), until: now_s },
                    json!({ "principal": principal }),
                ),
            };
            Ok((vec![event], Some((Act::TokenRevoked, of))))
        })
        .map(|_| ())
    }

    /// A new key signs and seals from now on; the old ones are good until they are retired.
    pub fn rotate(&self) -> Result<String, Error> {
        let mut made = None;
        self.change(&mut |_| {
            let id = match &self.place {
                Some(_) => self.write_key()?,
                None => return Err(Error::Wrong("keys in memory are not rotated".into())),
            };
            made = Some(id.to_string());
            let of = json!({ "key": id.to_string() });
            Ok((vec![Event::Key { id: id.to_string() }], Some((Act::KeyRotated, of))))
        })?;
        made.ok_or_else(no_key)
    }

    /// What this key signed or sealed is no longer good, and its secrets are removed.
    pub fn retire(&self, id: &str) -> Result<(), Error> {
        let unknown = || Error::Wrong(format!("there is no key `{id}`"));
        let key = KeyId::parse(id).ok_or_else(unknown)?;
        self.change(&mut |ledger| {
            let known = ledger.keys.get(&key).ok_or_else(unknown)?;
            if known.retired_at.is_some() {
                return Err(Error::Wrong(format!("the key `{id}` was retired already")));
            }
            if ledger.current == Some(key) {
                let what = format!("`{id}` is the key that signs now; rotate first");
                return Err(Error::Wrong(what));
            }
            let of = json!({ "key": id });
            Ok((vec![Event::KeyRetired { id: id.to_string() }], Some((Act::KeyRetired, of))))
        })?;
        match &self.place {
            Some(place) => directory::remove(&place.key_path(key)),
            None => Ok(()),
        }
    }

    /// Who presents this token? The signature is computed once for a token, the rest every time.
    pub fn verify(&self, text: &str, now_s: i64) -> Result<Arc<Signed>, Denied> {
        let known = self.newest().map_err(|_| Denied::Unavailable)?;
        let signed = match self.cache.get(text) {
            Some(signed) => signed,
            None => {
                let (claims, key) = token::read(text, |id| known.ledger.key(id))?;
                let signed = Arc::new(Signed { claims, key });
                self.cache.put(text, Arc::clone(&signed));
                signed
            }
        };
        known.ledger.honours(&signed.claims, signed.key)?;
        signed.claims.fits(&known.ledger.service, now_s)?;
        Ok(signed)
    }

    /// Of a token that was verified earlier: may what was begun with it go on?
    pub fn still_good(&self, signed: &Signed, now_s: i64) -> Result<(), Denied> {
        let known = self.newest().map_err(|_| Denied::Unavailable)?;
        known.ledger.honours(&signed.claims, signed.key)?;
        signed.claims.fits(&known.ledger.service, now_s)
    }

    /// None: more than is ever taken back.
    pub fn seal(&self, bytes: &[u8]) -> Option<String> {
        seal::seal(self.known().ledger.current()?, bytes)
    }

    /// None: not sealed with these keys, or with one that is retired.
    pub fn unseal(&self, text: &str) -> Option<Vec<u8>> {
        let known = self.newest().ok()?;
        seal::unseal(text, |id| known.ledger.key(id))
    }

    /// By principal, then by when they were issued.
    pub fn tokens(&self) -> Result<Vec<TokenInfo>, Error> {
        let known = self.newest()?;
        let ledger = &known.ledger;
        let mut list: Vec<TokenInfo> = ledger
            .issued
            .iter()
            .map(|(id, issue)| TokenInfo {
                id: id.clone(),
                principal: issue.principal.clone(),
                roles: issue.roles.clone(),
                service: issue.service.clone(),
                issued_at: issue.from,
                expires_at: issue.expires,
                revoked: ledger.is_revoked(id, &issue.principal, issue.from),
            })
            .collect();
        list.sort_by(|a, b| {
            (&a.principal, a.issued_at, &a.id).cmp(&(&b.principal, b.issued_at, &b.id))
        });
        Ok(list)
    }

    /// From the oldest to the one in use.
    pub fn keys(&self) -> Result<Vec<KeyInfo>, Error> {
        let known = self.newest()?;
        let ledger = &known.ledger;
        let mut list: Vec<KeyInfo> = ledger
            .keys
            .iter()
            .map(|(id, key)| KeyInfo {
                id: id.to_string(),
                made_at: key.made_at,
                retired_at: key.retired_at,
                current: ledger.current == Some(*id),
                public: key.key.as_ref().map(|key| base64::encode(&key.public)),
            })
            .collect();
        list.sort_by(|a, b| (a.current, a.made_at, &a.id).cmp(&(b.current, b.made_at, &b.id)));
        Ok(list)
    }
}

pub(crate) type Decide<'a> =
    dyn FnMut(&Ledger) -> Result<(Vec<Event>, Option<(Act, Value)>), Error> + 'a;

impl Place {
    fn note(&self, ledger: &Ledger, act: Act, by: &str, of: Value) -> Result<(), Error> {
        self.audit.append(ledger.current().ok_or_else(no_key)?, act, by, of)
    }

    fn key_path(&self, id: KeyId) -> PathBuf {
        self.directory.join(format!("{id}.key"))
    }

    fn load_key(&self, id: KeyId) -> Result<Key, Error> {
        let path = self.key_path(id);
        let text = std::fs::read_to_string(&path).map_err(|error| Error::io(&path, &error))?;
        directory::private(&path)?;
        let key = Secret::from_text(&text).and_then(|secret| secret.key());
        key.filter(|key| key.id == id).ok_or(Error::Damaged { path, line: 1 })
    }
}

fn random_key() -> Result<(Key, Secret), Error> {
    let secret = Secret::random().ok_or_else(no_randomness)?;
    let key = secret.key().ok_or_else(no_randomness)?;
    Ok((key, secret))
}

pub(crate) fn no_randomness() -> Error {
    Error::Wrong("the system gives no randomness".into())
}

fn no_key() -> Error {
    Error::Wrong("there is no key to sign with".into())
}

fn check_names(new: &NewToken) -> Result<(), Error> {
    let wrong = |what: &str, name: &str| Err(Error::Wrong(format!("`{name}` is no {what}")));
    if !good_name(&new.principal) {
        return wrong("principal", &new.principal);
    }
    if let Some(service) = new.service.as_ref().filter(|service| !good_name(service)) {
        return wrong("service", service);
    }
    if let Roles::Some(names) = &new.roles {
        if let Some(name) = names.iter().find(|name| !good_name(name)) {
            return wrong("role", name);
        }
        if names.len() > ROLES_MAX {
            return Err(Error::Wrong(format!("a token names at most {ROLES_MAX} roles")));
        }
    }
    if new.lifetime_s <= 0 {
        return Err(Error::Wrong("a token that is never valid is not issued".into()));
    }
    Ok(())
}

/// Who changes keys, tokens and stores by a command: the user of this machine.
pub fn by() -> String {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    user.ok().filter(|name| good_name(name)).unwrap_or_else(|| "unknown".into())
}
