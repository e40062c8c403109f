#pragma once
// Direct products of groups. Elements, algebra elements and covectors are those of the factors, one after the other.

#include "rattleback/lie/group.hpp"

RB_NAMESPACE_BEGIN

template <class G, class... Others>
struct Product;

namespace detail {

template <class... Groups>
struct ProductOf {
  using type = Product<Groups...>;
};
template <class G>
struct ProductOf<G> {
  using type = G;
};

}  // namespace detail

/// G x Others...
template <class G, class... Others>
struct Product {
  using First = G;
  using Rest = typename detail::ProductOf<Others...>::type;
  static constexpr int dimension = First::dimension + Rest::dimension;
  static constexpr int element_size = First::element_size + Rest::element_size;

  template <class T>
  using Elem = Vector<T, element_size>;
  template <class T>
  using Vec = Vector<T, dimension>;

  template <class T>
  RB_HD static Elem<T> identity() {
    return join(First::template identity<T>(), Rest::template identity<T>());
  }
  template <class T>
  RB_HD static Elem<T> product(const Vector<T, element_size>& g, const Vector<T, element_size>& h) {
    return join(First::product(first_element(g), first_element(h)), Rest::product(rest_element(g), rest_element(h)));
  }
  template <class T>
  RB_HD static Elem<T> inverse(const Vector<T, element_size>& g) {
    return join(First::inverse(first_element(g)), Rest::inverse(rest_element(g)));
  }
  template <class T>
  RB_HD static Elem<T> translate(const Vector<T, element_size>& g, const Vector<T, dimension>& x) {
    return join(First::translate(first_element(g), first(x)), Rest::translate(rest_element(g), rest(x)));
  }
  template <class T>
  RB_HD static Elem<T> expand(const Vector<T, dimension>& x) {
    return join(First::expand(first(x)), Rest::expand(rest(x)));
  }
  template <class T>
  RB_HD static T defect(const Vector<T, element_size>& g) {
    return max(First::defect(first_element(g)), Rest::defect(rest_element(g)));
  }
  template <class T>
  RB_HD static Elem<T> normalise(const Vector<T, element_size>& g) {
    return join(First::normalise(first_element(g)), Rest::normalise(rest_element(g)));
  }
  template <class T>
  RB_HD static Vec<T> Ad(const Vector<T, element_size>& g, const Vector<T, dimension>& x) {
    return join(First::Ad(first_element(g), first(x)), Rest::Ad(rest_element(g), rest(x)));
  }
  template <class T>
  RB_HD static Vec<T> Ad_star(const Vector<T, element_size>& g, const Vector<T, dimension>& m) {
    return join(First::Ad_star(first_element(g), first(m)), Rest::Ad_star(rest_element(g), rest(m)));
  }
  template <class T>
  RB_HD static Vec<T> Ad_inverse_star(const Vector<T, element_size>& g, const Vector<T, dimension>& m) {
    return join(First::Ad_inverse_star(first_element(g), first(m)), Rest::Ad_inverse_star(rest_element(g), rest(m)));
  }
  template <class T>
  RB_HD static Vec<T> ad(const Vector<T, dimension>& x, const Vector<T, dimension>& y) {
    return join(First::ad(first(x), first(y)), Rest::ad(rest(x), rest(y)));
  }
  template <class T>
  RB_HD static Vec<T> ad_star(const Vector<T, dimension>& x, const Vector<T, dimension>& m) {
    return join(First::ad_star(first(x), first(m)), Rest::ad_star(rest(x), rest(m)));
  }
  /// The largest angle_squared of the factors.
  template <class T>
  RB_HD static T angle_squared(const Vector<T, dimension>& x) {
    return max(First::angle_squared(first(x)), Rest::angle_squared(rest(x)));
  }

  /// The parts of an element of the group.
  template <class T>
  RB_HD static auto first_element(const Vector<T, element_size>& g) {
    return segment<0, First::element_size>(g);
  }
  template <class T>
  RB_HD static auto rest_element(const Vector<T, element_size>& g) {
    return segment<First::element_size, Rest::element_size>(g);
  }
  /// The parts of an element of the algebra or its dual.
  template <class T>
  RB_HD static auto first(const Vector<T, dimension>& x) {
    return segment<0, First::dimension>(x);
  }
  template <class T>
  RB_HD static auto rest(const Vector<T, dimension>& x) {
    return segment<First::dimension, Rest::dimension>(x);
  }
};

template <class... Groups, class Tau, class T>
class Chart<Product<Groups...>, Tau, T> {
  using G = Product<Groups...>;
  using Vec = Algebra<G, T>;
  using First = Chart<typename G::First, Tau, T>;
  using Rest = Chart<typename G::Rest, Tau, T>;

 public:
  RB_HD explicit Chart(const Vec& x) : first_(G::first(x)), rest_(G::rest(x)) {}
  RB_HD Vec x() const { return join(first_.x(), rest_.x()); }
  RB_HD Chart opposite() const { return Chart(first_.opposite(), rest_.opposite()); }

  RB_HD Element<G, T> tau() const { return join(first_.tau(), rest_.tau()); }
  RB_HD static Vec inverse(const Element<G, T>& g) {
    return join(First::inverse(G::first_element(g)), Rest::inverse(G::rest_element(g)));
  }

  RB_HD Element<G, T> move(const Element<G, T>& g) const {
    return join(first_.move(G::first_element(g)), rest_.move(G::rest_element(g)));
  }
  RB_HD Vec Ad(const Vec& y) const { return join(first_.Ad(G::first(y)), rest_.Ad(G::rest(y))); }
  RB_HD Vec Ad_star(const Vec& m) const { return join(first_.Ad_star(G::first(m)), rest_.Ad_star(G::rest(m))); }
  RB_HD Vec Ad_inverse_star(const Vec& m) const {
    return join(first_.Ad_inverse_star(G::first(m)), rest_.Ad_inverse_star(G::rest(m)));
  }
  RB_HD Vec dtau(const Vec& eta) const { return join(first_.dtau(G::first(eta)), rest_.dtau(G::rest(eta))); }
  RB_HD Vec dtau_star(const Vec& m) const { return join(first_.dtau_star(G::first(m)), rest_.dtau_star(G::rest(m))); }
  RB_HD Vec dtau_inverse(const Vec& zeta) const {
    return join(first_.dtau_inverse(G::first(zeta)), rest_.dtau_inverse(G::rest(zeta)));
  }
  RB_HD Vec dtau_inverse_star(const Vec& m) const {
    return join(first_.dtau_inverse_star(G::first(m)), rest_.dtau_inverse_star(G::rest(m)));
  }
  RB_HD Vec gradient(const Vec& m, const Vec& eta) const {
    return join(first_.gradient(G::first(m), G::first(eta)), rest_.gradient(G::rest(m), G::rest(eta)));
  }

 private:
  RB_HD Chart(const First& first, const Rest& rest) : first_(first), rest_(rest) {}

  First first_;
  Rest rest_;
};

RB_NAMESPACE_END
